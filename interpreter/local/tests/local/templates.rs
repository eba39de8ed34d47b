//! Schedules that the native families do not make, and properties that exact data cannot show.

use crate::common::{Levels, flat, grid, parse, planners, random_case};
use coll_cluster::Rank;
use coll_executor::{Capabilities, Executor, Program, Request};
use coll_lang::library::{TemplateArg, TemplateId};
use coll_lang::words::{DType, Operation, ReduceOp};
use coll_local::reference::Expected;
use coll_local::{Machine, Options, Order, RunError, Scratch, inputs, plan, run};
use coll_planner::{Dir, Place, PlanError, Planners, Schedule, ScheduleBuilder, Task};
use proptest::prelude::*;
use smol_str::SmolStr;

fn request(op: Operation, count: u64, dtype: DType) -> Request {
    Request {
        op,
        count,
        dtype,
        reduce: (op != Operation::AllGather).then_some(ReduceOp::Sum),
        root: None,
        ccl_bytes: 1 << 20,
        loop_bytes: None,
    }
}

/// A planner made of a function.
struct By(fn(Task, &mut ScheduleBuilder));

impl Planners for By {
    fn name(&self, _: TemplateId) -> SmolStr {
        "by hand".into()
    }

    fn plan(&self, _: TemplateId, _: &[TemplateArg], task: Task) -> Result<Schedule, PlanError> {
        let mut schedule = ScheduleBuilder::default();
        (self.0)(task, &mut schedule);
        Ok(schedule.finish())
    }
}

/// One shot: everybody sends everything to everybody and adds it all up.
fn one_shot(Task { n, me, .. }: Task, schedule: &mut ScheduleBuilder) {
    let place = |sender: u32, receiver: u32| (sender - u32::from(sender > receiver)) * n;
    let peers = || (0..n).filter(|&p| p != me);
    for p in peers() {
        schedule.send_reduce(p, place(me, p), 0..n);
    }
    // The order of the receives is not that of the senders.
    for p in peers().rev() {
        schedule.recv_reduce(p, place(p, me), 0..n);
    }
    schedule.park((n - 1) * n);
    schedule.end_step();
}

/// A mesh whose slots are parked before they are put in their places, in two messages to each peer
/// of which one is empty.
fn parked_mesh(Task { n, me, .. }: Task, schedule: &mut ScheduleBuilder) {
    for p in (0..n).filter(|&p| p != me) {
        schedule.push(p, Dir::Send, false, Place::Park(me), [me]);
        schedule.send(p, []);
        schedule.push(p, Dir::Recv, false, Place::Park(p), [p]);
        schedule.recv(p, []);
    }
    schedule.park(n);
    schedule.end_step();
}

#[test]
fn several_slots_from_several_senders_are_parked_and_added() {
    let levels: Levels<'_> = &[&[0], &[1]];
    let options = Options::default();
    for count in [1, 5, 24, 100] {
        for text in [
            "seq(ar.mesh@0, ar.mesh@1)",
            "par(1: seq(ar.mesh@1, ar.mesh@0), 2: seq(ar.mesh@0, ar.mesh@1))",
        ] {
            let tree = flat(&parse(text), levels, 2);
            let request = request(Operation::AllReduce, count, DType::I16);
            let outcome = run(
                &grid(&[3, 4], levels),
                &tree,
                &By(one_shot),
                &request,
                &options,
            );
            let outcome = outcome.unwrap();
            assert!(outcome.exact, "{text} {count}: {:?}", outcome.mismatches);
        }
    }
}

#[test]
fn what_is_parked_can_replace() {
    let levels: Levels<'_> = &[&[0], &[1]];
    let tree = flat(&parse("seq(ag.mesh@1, ag.mesh@0)"), levels, 2);
    let request = request(Operation::AllGather, 5, DType::U8);
    let outcome = run(
        &grid(&[3, 4], levels),
        &tree,
        &By(parked_mesh),
        &request,
        &Options::default(),
    );
    let outcome = outcome.unwrap();
    assert!(outcome.exact, "{:?}", outcome.mismatches);
}

#[test]
fn a_template_whose_members_do_not_agree_blocks() {
    let levels: Levels<'_> = &[&[0]];
    let tree = flat(&parse("ag.mesh@0"), levels, 1);
    let request = request(Operation::AllGather, 5, DType::U8);
    let outcome = |planner| {
        let outcome = run(
            &grid(&[2], levels),
            &tree,
            &By(planner),
            &request,
            &Options::default(),
        );
        outcome.map(|o| o.exact).map_err(|e| e.code().id())
    };
    let nobody_sends = |Task { me, .. }: Task, s: &mut ScheduleBuilder| {
        s.recv(1 - me, [1 - me]);
        s.end_step();
    };
    assert_eq!(outcome(nobody_sends), Err("E1004"));
}

/// Floating-point sums that depend on the order are those of the ranks' order on a mesh.
#[test]
fn a_mesh_adds_in_rank_order() {
    let (n, count) = (7u32, 50u64);
    let levels: Levels<'_> = &[&[0]];
    let value = |rank: u32, i: u64| ((f64::from(rank) * 1.7 + i as f64 * 0.3).sin() * 1e3) as f32;
    let inputs: Vec<Vec<u8>> = (0..n)
        .map(|r| (0..count).flat_map(|i| value(r, i).to_ne_bytes()).collect())
        .collect();
    let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let in_order: Vec<f32> = (0..count)
        .map(|i| (1..n).fold(value(0, i), |sum, r| sum + value(r, i)))
        .collect();
    let backwards = (0..count).map(|i| (0..n - 1).rfold(value(n - 1, i), |s, r| s + value(r, i)));
    assert!(
        in_order.iter().zip(backwards).any(|(a, b)| *a != b),
        "the order must matter"
    );
    let tree = flat(&parse("ar.mesh@0"), levels, 1);
    let (matched, planners) = (grid(&[n], levels), planners());
    let request = request(Operation::AllReduce, count, DType::F32);
    let executor = Executor::new(&tree, &matched, &planners, &request).unwrap();
    let programs = plan(&executor, n).unwrap();
    let machine = Machine::new(&programs).unwrap();
    let mut outputs = vec![vec![0; inputs[0].len()]; n as usize];
    let mut out: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    machine
        .run(
            &slices,
            &mut out,
            &mut Scratch::new(&machine).unwrap(),
            Order::Seed(1),
        )
        .unwrap();
    for (rank, output) in outputs.iter().enumerate() {
        let got: Vec<f32> = output
            .as_chunks()
            .0
            .iter()
            .map(|b| f32::from_ne_bytes(*b))
            .collect();
        assert_eq!(got, in_order, "rank {rank}");
    }
}

/// A wrong output is found, counted and described.
#[test]
fn the_reference_finds_what_is_wrong() {
    let a: Vec<u8> = [1i16, -2, 3, 4, 5]
        .iter()
        .flat_map(|v| v.to_ne_bytes())
        .collect();
    let b: Vec<u8> = [10i16, 20, 30, 40, i16::MAX]
        .iter()
        .flat_map(|v| v.to_ne_bytes())
        .collect();
    let sum = request(Operation::AllReduce, 5, DType::I16);
    let expected = Expected::new(&sum, &[&a, &b]).unwrap();
    let right = [11i16, 18, 33, 44, i16::MIN + 4];
    let bytes = |v: [i16; 5]| v.iter().flat_map(|v| v.to_ne_bytes()).collect::<Vec<u8>>();
    let mut found = Vec::new();
    assert_eq!(expected.compare(1, &bytes(right), 9, &mut found), 0);
    let wrong = [11, 19, 33, 45, 0];
    assert_eq!(expected.compare(1, &bytes(wrong), 2, &mut found), 3);
    let text: Vec<String> = found
        .iter()
        .map(|m| {
            format!(
                "{}/{}/{}: {} {}",
                m.rank, m.slot, m.element, m.expected, m.got
            )
        })
        .collect();
    // Slots of two elements, the last one with the rest.
    assert_eq!(text, ["1/0/1: 18 19", "1/1/1: 44 45"]);
    let gather = request(Operation::AllGather, 5, DType::I16);
    let expected = Expected::new(&gather, &[&a, &b]).unwrap();
    found.clear();
    assert_eq!(expected.compare(0, &[&*b, &*b].concat(), 9, &mut found), 5);
    assert_eq!((found[0].slot, found[0].element), (0, 0));
    let scatter = request(Operation::ReduceScatter, 2, DType::I16);
    let expected = Expected::new(&scatter, &[&a[..8], &b[..8]]).unwrap();
    found.clear();
    assert_eq!(expected.compare(1, &[0; 4], 9, &mut found), 2);
    assert_eq!(found[1].expected.to_string(), "44");
    assert!(Expected::new(&scatter, &[&a, &b[..8]]).is_none());
}

/// Sums and products of the inputs made for tests are exact in any order, even on more ranks than
/// the type can count.
#[test]
fn inputs_are_exact_in_any_order() {
    const COUNT: usize = 11;
    for dtype in [DType::F16, DType::Bf16, DType::F32, DType::F64] {
        for (reduce, combine) in [
            (ReduceOp::Sum, (|a, b| a + b) as fn(f64, f64) -> f64),
            (ReduceOp::Prod, |a, b| a * b),
        ] {
            for ranks in [1u32, 7, 300, 3000] {
                let request = Request {
                    reduce: Some(reduce),
                    ..request(Operation::AllReduce, COUNT as u64, dtype)
                };
                let mut values: Vec<Vec<f64>> = (0..ranks)
                    .map(|rank| {
                        let mut input = vec![0; COUNT * dtype.size() as usize];
                        inputs::fill(&request, ranks, rank, 5, &mut input);
                        read(dtype, &input)
                    })
                    .collect();
                // Rounded to the type after every step, as an engine does.
                let fold = |values: &[Vec<f64>], i: usize| {
                    let step = |sum, rank: &Vec<f64>| round(dtype, combine(sum, rank[i]));
                    values[1..].iter().fold(values[0][i], step)
                };
                let exact = |i| {
                    values[1..]
                        .iter()
                        .fold(values[0][i], |a, b| combine(a, b[i]))
                };
                let exact: Vec<f64> = (0..COUNT).map(exact).collect();
                assert!(
                    exact.iter().any(|&v| v != exact[0]),
                    "{dtype} {reduce} {ranks}"
                );
                for _ in 0..3 {
                    let sums: Vec<f64> = (0..COUNT).map(|i| fold(&values, i)).collect();
                    assert_eq!(sums, exact, "{dtype} {reduce} {ranks}");
                    values.reverse();
                    values.rotate_left(ranks as usize / 3);
                }
            }
        }
    }
}

fn round(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::F16 => half::f16::from_f64(value).to_f64(),
        DType::Bf16 => half::bf16::from_f64(value).to_f64(),
        DType::F32 => f64::from(value as f32),
        _ => value,
    }
}

fn read(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let halves = || bytes.as_chunks().0.iter();
    match dtype {
        DType::F16 => halves()
            .map(|b| half::f16::from_ne_bytes(*b).to_f64())
            .collect(),
        DType::Bf16 => halves()
            .map(|b| half::bf16::from_ne_bytes(*b).to_f64())
            .collect(),
        DType::F32 => bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f32::from_ne_bytes(*b).into())
            .collect(),
        _ => bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_ne_bytes(*b))
            .collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Engines that cannot put into a peer's output get programs that do not, and are as exact.
    #[test]
    fn without_remote_output_all_puts_go_to_the_ccl_buffer(seed in any::<u64>(), count in 0u64..30) {
        let case = random_case(seed, 16);
        let (tree, matched, planners) = (case.flat(), case.matched(), planners());
        let request = Request {
            ccl_bytes: 4 * 2 * u64::from(matched.ranks()) * 3,
            ..request(case.op, count, DType::U32)
        };
        let ranks = matched.ranks();
        let executor = Executor::new(&tree, &matched, &planners, &request).unwrap();
        let programs: Vec<Program> = (0..ranks)
            .map(|rank| {
                let mut program = Program::new(Capabilities { remote_output: false });
                executor.emit(Rank(rank), &mut program).unwrap();
                program
            })
            .collect();
        let puts = programs.iter().flat_map(|p| &p.segments).flat_map(|s| &s.ops);
        for put in puts.filter(|op| op.kind == coll_executor::OpKind::Put) {
            prop_assert_eq!(put.dst.buffer, coll_executor::Buffer::Ccl);
        }
        let machine = Machine::new(&programs).unwrap();
        let (input, output) = request.user_bytes(ranks).unwrap();
        let mut inputs = vec![vec![0; input as usize]; ranks as usize];
        for (rank, input) in (0..).zip(&mut inputs) {
            inputs::fill(&request, ranks, rank, seed, input);
        }
        let slices: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let mut outputs = vec![vec![0; output as usize]; ranks as usize];
        let mut out: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        let done: Result<(), RunError> =
            machine.run(&slices, &mut out, &mut Scratch::new(&machine).unwrap(), Order::Seed(seed));
        prop_assert_eq!(done, Ok(()));
        let expected = Expected::new(&request, &slices).unwrap();
        let mut found = Vec::new();
        for (rank, output) in (0..).zip(&outputs) {
            expected.compare(rank, output, 3, &mut found);
        }
        prop_assert_eq!(found, vec![], "{:?}", case);
    }
}
