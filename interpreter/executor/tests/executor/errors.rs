//! What cannot be executed is refused, with the node that is at fault.

use crate::common::{Levels, flat, grid, parse, planners};
use coll_cluster::Rank;
use coll_executor::{
    Capabilities, ExecError, Executor, Program, Request, RequestError, WeightError,
};
use coll_lang::contract::Dims;
use coll_lang::library::{NodeId, TemplateArg, TemplateId};
use coll_lang::words::{DType, Operation, ReduceOp};
use coll_planner::{Dir, Place, PlanError, Planners, Schedule, ScheduleBuilder, Task};
use smol_str::SmolStr;

const LEVELS: Levels<'_> = &[&[0], &[1], &[0, 1]];

fn request(op: Operation) -> Request {
    Request {
        op,
        count: 100,
        dtype: DType::F32,
        reduce: (op != Operation::AllGather).then_some(ReduceOp::Sum),
        root: None,
        ccl_bytes: 1 << 20,
        loop_bytes: None,
    }
}

fn error(text: &str, request: &Request) -> ExecError {
    let tree = flat(&parse(text), LEVELS, 2);
    let (matched, planners) = (grid(&[2, 3], LEVELS), planners());
    match Executor::new(&tree, &matched, &planners, request) {
        Ok(_) => panic!("{text} is refused"),
        Err(error) => error,
    }
}

fn gather(text: &str) -> ExecError {
    error(text, &request(Operation::AllGather))
}

#[test]
fn trees_that_break_a_rule() {
    let node = NodeId;
    assert_eq!(
        gather("seq(ag.mesh@0, ag.mesh@0, ag.mesh@1)"),
        ExecError::State {
            node: node(2),
            op: Operation::AllGather,
            dims: Dims::only(0)
        }
    );
    assert_eq!(
        gather("ag.mesh@0"),
        ExecError::WrongEnd {
            op: Operation::AllGather
        }
    );
    assert_eq!(
        error("seq(ag.mesh@0, rs.mesh@1)", &request(Operation::AllReduce)),
        ExecError::State {
            node: node(1),
            op: Operation::AllGather,
            dims: Dims::only(0)
        }
    );
    assert_eq!(
        gather("seq(par(ag.mesh@0, ag.mesh@1), ag.mesh@1)"),
        ExecError::ManyGroups {
            node: node(4),
            groups: 2
        }
    );
    let deal = "seq(par(ag.mesh@0, ag.mesh@1), par(ag.mesh@1, ag.mesh@0, ag.mesh@1))";
    assert_eq!(
        gather(deal),
        ExecError::Deal {
            node: node(4),
            groups: 2,
            children: 3
        }
    );
    assert_eq!(
        gather("seq(par(ag.mesh@0, ag.mesh@1), par(1: ag.mesh@1, 1: ag.mesh@0))"),
        ExecError::WeightsOfDealt { node: node(4) }
    );
    assert_eq!(
        gather("par(0: ag.mesh@2, 0: ag.nhr@2)"),
        ExecError::Weights {
            node: node(0),
            error: WeightError::AllZero
        }
    );
    assert_eq!(
        gather("seq(assert)"),
        ExecError::NoChildren { node: node(0) }
    );
    assert_eq!(gather("par()"), ExecError::NoChildren { node: node(0) });
    assert_eq!(gather("assert"), ExecError::NoChildren { node: node(0) });
    assert_eq!(gather("omnipipe"), ExecError::OmniPipe { node: node(0) });
    assert_eq!(
        gather("ag.mesh@7"),
        ExecError::NoSuchLevel {
            node: node(0),
            level: 7,
            levels: 3
        }
    );
    assert_eq!(
        gather("scatter.mesh@0"),
        ExecError::Operation {
            node: node(0),
            op: Operation::Scatter
        }
    );
    let unknown = gather("ag.bogus@2");
    assert_eq!(unknown.node(), Some(node(0)));
    assert_eq!(unknown.code().id(), "E0802");
}

#[test]
fn requests_that_do_not_fit() {
    let text = "ag.mesh@2";
    let good = request(Operation::AllGather);
    let code = |r: &Request| error(text, r).code().id();
    assert_eq!(
        code(&Request {
            reduce: Some(ReduceOp::Sum),
            ..good
        }),
        "E1002"
    );
    assert_eq!(
        code(&Request {
            root: Some(Rank(0)),
            ..good
        }),
        "E1002"
    );
    assert_eq!(
        code(&Request {
            op: Operation::Send,
            ..good
        }),
        "E1002"
    );
    assert_eq!(
        code(&Request {
            count: u64::MAX / 4,
            ..good
        }),
        "E1003"
    );
    let reduce = Request {
        reduce: None,
        ..request(Operation::AllReduce)
    };
    assert_eq!(
        error("ar.mesh@2", &reduce),
        ExecError::Request(RequestError::NeedsReduce {
            op: Operation::AllReduce
        })
    );
}

/// One element of every slot is the least: 6 slots, and what is parked.
#[test]
fn buffers_that_are_too_small() {
    let small = |op| Request {
        ccl_bytes: 23,
        ..request(op)
    };
    let needs = |needs| ExecError::Buffer { needs, has: 23 };
    assert_eq!(
        error("ag.mesh@2", &small(Operation::AllGather)),
        needs(6 * 4)
    );
    // The mesh parks five slots; in two levels it parks two bundles of two, and then one.
    assert_eq!(
        error("ar.mesh@2", &small(Operation::AllReduce)),
        needs(11 * 4)
    );
    let levels = "seq(rs.mesh@1, rs.mesh@0)";
    assert_eq!(
        error(levels, &small(Operation::ReduceScatter)),
        needs(10 * 4)
    );
    assert_eq!(
        needs(24).to_string(),
        "the CCL buffer needs at least 24 bytes and has 23"
    );
    assert_eq!(needs(24).code().id(), "E1001");
}

/// A planner that answers with one fixed schedule.
struct Fixed(Schedule);

impl Planners for Fixed {
    fn name(&self, _: TemplateId) -> SmolStr {
        "fixed".into()
    }

    fn plan(&self, _: TemplateId, _: &[TemplateArg], _: Task) -> Result<Schedule, PlanError> {
        Ok(self.0.clone())
    }
}

fn with_schedule(build: impl Fn(&mut ScheduleBuilder)) -> Result<(), ExecError> {
    let mut schedule = ScheduleBuilder::default();
    build(&mut schedule);
    schedule.end_step();
    let planners = Fixed(schedule.finish());
    let levels: Levels<'_> = &[&[0]];
    let tree = flat(&parse("ag.mesh@0"), levels, 1);
    let matched = grid(&[3], levels);
    let executor = Executor::new(&tree, &matched, &planners, &request(Operation::AllGather))?;
    executor.emit(Rank(1), &mut Program::new(Capabilities::default()))
}

#[test]
fn schedules_that_are_none() {
    let node = NodeId(0);
    let bad = |index| Err(ExecError::BadIndex { node, index, n: 3 });
    let not_held = |step, slot| {
        Err(ExecError::NotHeld {
            node,
            rank: Rank(1),
            step,
            slot,
        })
    };
    assert_eq!(with_schedule(|s| s.send(3, [1])), bad(3));
    assert_eq!(with_schedule(|s| s.recv(0, [0, 5])), bad(5));
    assert_eq!(with_schedule(|s| s.send(0, [2])), not_held(0, 2));
    assert_eq!(with_schedule(|s| s.recv(0, [0])), not_held(1, 2));
    let complete = |s: &mut ScheduleBuilder| s.recv(0, [0, 2]);
    assert_eq!(with_schedule(complete), Ok(()));
    let unparked = |s: &mut ScheduleBuilder| {
        s.push(0, Dir::Recv, true, Place::Slot, [1]);
    };
    assert_eq!(with_schedule(unparked), Err(ExecError::BadPlace { node }));
    assert_eq!(
        with_schedule(|s| s.recv_reduce(0, 0, [1])),
        Err(ExecError::BadPlace { node })
    );
    let parked = |s: &mut ScheduleBuilder| {
        complete(s);
        s.park(1);
        s.recv_reduce(0, 0, [1]);
    };
    assert_eq!(with_schedule(parked), Ok(()));
}

#[test]
fn ranks_that_do_not_exist() {
    let tree = flat(&parse("ag.mesh@2"), LEVELS, 2);
    let (matched, planners) = (grid(&[2, 3], LEVELS), planners());
    let executor =
        Executor::new(&tree, &matched, &planners, &request(Operation::AllGather)).unwrap();
    let error = executor.emit(Rank(6), &mut Program::default());
    assert_eq!(
        error,
        Err(ExecError::NoSuchRank {
            rank: Rank(6),
            ranks: 6
        })
    );
}

#[test]
fn nothing_to_do_needs_no_buffer() {
    let tree = flat(&parse("ag.mesh@2"), LEVELS, 2);
    let (matched, planners) = (grid(&[2, 3], LEVELS), planners());
    let nothing = Request {
        count: 0,
        ccl_bytes: 0,
        ..request(Operation::AllGather)
    };
    let executor = Executor::new(&tree, &matched, &planners, &nothing).unwrap();
    let mut program = Program::default();
    executor.emit(Rank(0), &mut program).unwrap();
    assert_eq!((executor.loops(), program.segments.len()), (0, 0));
}
