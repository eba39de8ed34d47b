//! All members' schedules executed symbolically by a small oracle that knows nothing of how they are
//! made: what each member holds of each slot is a set of contributions.

use coll_lang::words::Operation;
use coll_planner::{Dir, Native, Part, Place, Schedule, Task, Transfer};
use proptest::prelude::*;

/// The members that contributed to a value; up to 448 of them.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Set([u64; 7]);

impl Set {
    const NONE: Self = Self([0; 7]);

    fn only(member: u32) -> Self {
        let mut set = Self::NONE;
        set.0[member as usize / 64] |= 1 << (member % 64);
        set
    }

    fn all(n: u32) -> Self {
        (0..n).fold(Self::NONE, |set, m| set.or(Self::only(m)))
    }

    fn or(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
        self
    }

    fn meets(self, other: Self) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }
}

fn plan(family: Native, op: Operation, n: u32, me: u32) -> Schedule {
    let task = Task { op, n, me, root: 0 };
    family.plan(task).expect("the families plan these")
}

/// Executes the schedules of all members of a level of `n` and says what is wrong.
fn execute(family: Native, op: Operation, n: u32) -> Result<(), String> {
    let plans: Vec<Schedule> = (0..n).map(|me| plan(family, op, n, me)).collect();
    let steps = plans[0].steps().len();
    let parking = plans[0].parking();
    if let Some(me) = (0..n).find(|&m| {
        let p = &plans[m as usize];
        p.steps().len() != steps || p.parking() != parking
    }) {
        return Err(format!(
            "member {me} has other steps or parking than member 0"
        ));
    }
    let mut held: Vec<Vec<Set>> = (0..n)
        .map(|me| {
            (0..n)
                .map(|slot| match op {
                    Operation::AllGather if slot == me => Set::all(n),
                    Operation::AllGather => Set::NONE,
                    _ => Set::only(me),
                })
                .collect()
        })
        .collect();
    for step in 0..steps {
        execute_step(&plans, step, &mut held).map_err(|e| format!("step {step}: {e}"))?;
    }
    for me in 0..n {
        for slot in 0..n {
            let promised = op != Operation::ReduceScatter || slot == me;
            if promised && held[me as usize][slot as usize] != Set::all(n) {
                return Err(format!("member {me} ends without all of slot {slot}"));
            }
        }
    }
    Ok(())
}

fn execute_step(plans: &[Schedule], step: usize, held: &mut [Vec<Set>]) -> Result<(), String> {
    let of = |me: usize| plans[me].steps().nth(step).expect("all have as many steps");
    let mut expected: Vec<Vec<&Transfer>> = (0..plans.len())
        .map(|me| of(me).iter().filter(|t| t.dir == Dir::Recv).collect())
        .collect();
    // What is sent is the state from before the step, so all sends are read before any lands.
    let mut landing = Vec::new();
    for (me, plan) in plans.iter().enumerate() {
        for send in of(me).iter().filter(|t| t.dir == Dir::Send) {
            let parts = plan.parts(send);
            let peer = send.peer as usize;
            let matching = expected[peer].iter().position(|r| {
                r.peer as usize == me
                    && r.reduce == send.reduce
                    && r.place == send.place
                    && plans[peer].parts(r) == parts
            });
            let found = matching.ok_or_else(|| format!("{me} -> {peer} is not awaited"))?;
            expected[peer].swap_remove(found);
            for &Part { slot } in parts {
                landing.push((me, peer, slot, send.reduce, held[me][slot as usize]));
            }
        }
    }
    for (me, peer, slot, reduce, value) in landing {
        let target = &mut held[peer][slot as usize];
        if value == Set::NONE {
            return Err(format!("{me} sends slot {slot}, which it does not hold"));
        }
        if !reduce && *target == value {
            return Err(format!("{peer} receives slot {slot} once more"));
        }
        if reduce && target.meets(value) {
            return Err(format!("{peer} adds a contribution to slot {slot} twice"));
        }
        *target = if reduce { target.or(value) } else { value };
    }
    if let Some(me) = expected.iter().position(|rest| !rest.is_empty()) {
        return Err(format!("{me} awaits what nobody sends"));
    }
    (0..plans.len()).try_for_each(|me| check_places(&plans[me], of(me), me))
}

/// What is parked must fit the parking area and not overlap; what is not parked must be the only
/// thing that lands in its slot, which must not be sent in the same step.
fn check_places(plan: &Schedule, transfers: &[Transfer], me: usize) -> Result<(), String> {
    let mut parked = Vec::new();
    let mut landed = Vec::new();
    for t in transfers.iter().filter(|t| t.dir == Dir::Recv) {
        let parts = plan.parts(t);
        match t.place {
            Place::Park(first) => parked.extend(first..first + parts.len() as u32),
            Place::Slot if t.reduce => return Err(format!("{me} reduces without parking")),
            Place::Slot => landed.extend(parts),
        }
    }
    for t in transfers.iter().filter(|t| t.dir == Dir::Send) {
        if plan.parts(t).iter().any(|p| landed.contains(&p)) {
            return Err(format!(
                "{me} sends a slot that is overwritten in the same step"
            ));
        }
    }
    if parked.iter().any(|&p| p >= plan.parking()) {
        return Err(format!("{me} parks beyond its parking area"));
    }
    let (bundles, slots) = (parked.len(), landed.len());
    parked.sort_unstable();
    parked.dedup();
    landed.sort_unstable();
    landed.dedup();
    if (bundles, slots) != (parked.len(), landed.len()) {
        return Err(format!("{me} lets two things land in one place"));
    }
    Ok(())
}

const OPS: [Operation; 3] = [
    Operation::AllGather,
    Operation::ReduceScatter,
    Operation::AllReduce,
];

#[test]
fn every_family_keeps_the_contract_for_sizes_up_to_130() {
    for &family in Native::ALL {
        for op in OPS {
            for n in 1..=130 {
                if let Err(e) = execute(family, op, n) {
                    panic!("{family:?} {op} n={n}: {e}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn nhr_keeps_the_contract_for_any_size(n in 131u32..400, op in 0usize..3) {
        prop_assert_eq!(execute(Native::Nhr, OPS[op], n), Ok(()));
    }
}

/// The oracle itself must see what is wrong: a schedule of another size is.
#[test]
fn the_oracle_finds_faults() {
    let plans: Vec<Schedule> = (0..4)
        .map(|me| {
            plan(
                Native::Nhr,
                Operation::AllGather,
                if me == 3 { 5 } else { 4 },
                me,
            )
        })
        .collect();
    let mut held: Vec<Vec<Set>> = (0..4)
        .map(|me| {
            (0..5)
                .map(|s| if s == me { Set::all(5) } else { Set::NONE })
                .collect()
        })
        .collect();
    assert!(execute_step(&plans, 0, &mut held).is_err());
}

/// `(to, from, sent, received)` of one step.
type Row = (u32, u32, Vec<u32>, Vec<u32>);

fn table(op: Operation, n: u32, me: u32) -> Vec<Row> {
    let schedule = plan(Native::Nhr, op, n, me);
    let slots = |t: &Transfer| schedule.parts(t).iter().map(|p| p.slot).collect::<Vec<_>>();
    schedule
        .steps()
        .map(|step| match step {
            [send, recv] if (send.dir, recv.dir) == (Dir::Send, Dir::Recv) => {
                (send.peer, recv.peer, slots(send), slots(recv))
            }
            other => panic!("one send and one receive a step, not {other:?}"),
        })
        .collect()
}

/// Published tables list slots as the formula yields them; here they ascend.
fn row(to: u32, from: u32, sent: &[u32], received: &[u32]) -> Row {
    let ascending = |list: &[u32]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    (to, from, ascending(sent), ascending(received))
}

#[test]
fn nhr_all_gather_of_5_is_the_table() {
    let rows = [
        [
            row(4, 1, &[0], &[1]),
            row(2, 3, &[0], &[3]),
            row(1, 4, &[0, 3], &[4, 2]),
        ],
        [
            row(0, 2, &[1], &[2]),
            row(3, 4, &[1], &[4]),
            row(2, 0, &[1, 4], &[0, 3]),
        ],
        [
            row(1, 3, &[2], &[3]),
            row(4, 0, &[2], &[0]),
            row(3, 1, &[2, 0], &[1, 4]),
        ],
        [
            row(2, 4, &[3], &[4]),
            row(0, 1, &[3], &[1]),
            row(4, 2, &[3, 1], &[2, 0]),
        ],
        [
            row(3, 0, &[4], &[0]),
            row(1, 2, &[4], &[2]),
            row(0, 3, &[4, 2], &[3, 1]),
        ],
    ];
    for (me, expected) in rows.iter().enumerate() {
        assert_eq!(
            table(Operation::AllGather, 5, me as u32),
            expected,
            "rank {me}"
        );
    }
}

#[test]
fn nhr_reduce_scatter_of_5_is_the_table() {
    let rows = [
        [
            row(4, 1, &[4, 2], &[0, 3]),
            row(3, 2, &[3], &[0]),
            row(1, 4, &[1], &[0]),
        ],
        [
            row(0, 2, &[0, 3], &[1, 4]),
            row(4, 3, &[4], &[1]),
            row(2, 0, &[2], &[1]),
        ],
        [
            row(1, 3, &[1, 4], &[2, 0]),
            row(0, 4, &[0], &[2]),
            row(3, 1, &[3], &[2]),
        ],
        [
            row(2, 4, &[2, 0], &[3, 1]),
            row(1, 0, &[1], &[3]),
            row(4, 2, &[4], &[3]),
        ],
        [
            row(3, 0, &[3, 1], &[4, 2]),
            row(2, 1, &[2], &[4]),
            row(0, 3, &[0], &[4]),
        ],
    ];
    for (me, expected) in rows.iter().enumerate() {
        assert_eq!(
            table(Operation::ReduceScatter, 5, me as u32),
            expected,
            "rank {me}"
        );
    }
}

#[test]
fn nhr_of_8_is_the_table() {
    let gather = [
        row(4, 4, &[0], &[4]),
        row(2, 6, &[0, 4], &[6, 2]),
        row(1, 7, &[0, 6, 4, 2], &[7, 5, 3, 1]),
    ];
    let reduce = [
        row(7, 1, &[7, 5, 3, 1], &[0, 6, 4, 2]),
        row(6, 2, &[6, 2], &[0, 4]),
        row(4, 4, &[4], &[0]),
    ];
    for (op, expected) in [
        (Operation::AllGather, gather),
        (Operation::ReduceScatter, reduce),
    ] {
        for me in 0..8 {
            let shift = |list: &[u32]| list.iter().map(|s| (s + me) % 8).collect::<Vec<_>>();
            let shifted: Vec<Row> = expected
                .iter()
                .map(|(to, from, sent, received)| {
                    row(
                        (to + me) % 8,
                        (from + me) % 8,
                        &shift(sent),
                        &shift(received),
                    )
                })
                .collect();
            assert_eq!(table(op, 8, me), shifted, "{op} rank {me}");
        }
    }
}

#[test]
fn an_all_reduce_is_its_two_phases() {
    for &family in Native::ALL {
        for (n, me) in [(2, 1), (5, 3), (8, 0)] {
            let [gather, reduce, both] = OPS.map(|op| plan(family, op, n, me));
            let steps = |s: &Schedule| {
                s.steps()
                    .map(|step| {
                        step.iter()
                            .map(|t| (t.peer, t.dir, t.reduce, t.place, s.parts(t).to_vec()))
                            .collect::<Vec<_>>()
                    })
                    .collect::<Vec<_>>()
            };
            let phases = [steps(&reduce), steps(&gather)].concat();
            assert_eq!(steps(&both), phases, "{family:?} {n} {me}");
            assert_eq!(both.parking(), reduce.parking());
        }
    }
}

#[test]
fn what_cannot_be_planned_is_refused() {
    use coll_lang::library::TemplateId;
    use coll_planner::{NativePlanners, PlanError, Planners};
    let task = |op, n, me| Task { op, n, me, root: 0 };
    assert_eq!(
        Native::Mesh.plan(task(Operation::AllGather, 4, 4)),
        Err(PlanError::NoSuchMember { me: 4, n: 4 })
    );
    let error = Native::Ring.plan(task(Operation::Send, 4, 0)).unwrap_err();
    assert_eq!(error.to_string(), "template ring does not plan send");
    let planners = NativePlanners::named(&["nhr", "mine"]);
    assert!(
        planners
            .plan(TemplateId(0), &[], task(Operation::AllGather, 4, 0))
            .is_ok()
    );
    let error = planners
        .plan(TemplateId(1), &[], task(Operation::AllGather, 4, 0))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "template mine has no planner; native planners are mesh, nhr, ring"
    );
    assert_eq!(error.code().id(), "E0802");
}
