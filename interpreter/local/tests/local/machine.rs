//! Programs written by hand: what is refused, what blocks, what is left over.

use coll_cluster::Rank;
use coll_executor::{
    Addr, Buffer, Capabilities, Engine, Header, Op, OpKind, Origin, Program, Repeat,
};
use coll_lang::library::NodeId;
use coll_lang::words::{DType, ReduceOp};
use coll_local::{Fault, LoadError, Machine, Order, RunError, Scratch};

const BYTES: u64 = 64;

fn op(kind: OpKind, peer: u32) -> Op {
    let at = |buffer| Addr { buffer, offset: 0 };
    Op {
        kind,
        stream: 0,
        peer: Rank(peer),
        flag: 0,
        src: at(Buffer::Input),
        dst: at(Buffer::Output),
        rows: 1,
        elements: 4,
        src_pitch: 0,
        dst_pitch: 0,
        origin: Origin {
            node: NodeId(7),
            step: 3,
        },
    }
}

fn wait(peer: u32) -> Op {
    op(OpKind::Wait, peer)
}

fn signal(peer: u32) -> Op {
    op(OpKind::Signal, peer)
}

fn program(rank: u32, ranks: u32, times: u64, ops: &[Op]) -> Program {
    let mut program = Program::new(Capabilities::default());
    program.begin(&Header {
        rank: Rank(rank),
        ranks,
        dtype: DType::I32,
        reduce: Some(ReduceOp::Sum),
        streams: 2,
        input_bytes: BYTES,
        output_bytes: BYTES,
        ccl_bytes: BYTES,
    });
    program.segment(Repeat {
        times,
        input_shift: 16,
        output_shift: 16,
    });
    ops.iter().for_each(|op| program.op(op));
    program
}

/// Runs programs on inputs that count up, in several orders; they must all end alike.
fn run(programs: &[Program]) -> Result<Vec<Vec<i32>>, RunError> {
    let machine = Machine::new(programs).expect("programs that can be run");
    let input: Vec<u8> = (0..16i32).flat_map(i32::to_ne_bytes).collect();
    let inputs: Vec<&[u8]> = programs.iter().map(|_| input.as_slice()).collect();
    let orders = [Order::Threads(1), Order::Threads(3)]
        .into_iter()
        .chain((0..8).map(Order::Seed));
    let results = orders.map(|order| {
        let mut outputs = vec![vec![0u8; BYTES as usize]; programs.len()];
        let mut slices: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        machine.run(&inputs, &mut slices, &mut Scratch::new(&machine)?, order)?;
        let numbers = |o: &Vec<u8>| {
            o.as_chunks()
                .0
                .iter()
                .map(|b| i32::from_ne_bytes(*b))
                .collect::<Vec<_>>()
        };
        Ok(outputs.iter().map(numbers).collect::<Vec<_>>())
    });
    let mut results: Vec<_> = results.collect();
    results.dedup();
    assert_eq!(results.len(), 1, "every order ends alike");
    results.remove(0)
}

#[test]
fn segments_repeat_with_shifts() {
    let copy = Op {
        rows: 2,
        elements: 1,
        src_pitch: 8,
        dst_pitch: 4,
        ..op(OpKind::Copy, 0)
    };
    let outputs = run(&[program(0, 1, 3, &[copy])]).unwrap();
    assert_eq!(outputs[0][..12], [0, 2, 0, 0, 4, 6, 0, 0, 8, 10, 0, 0]);
}

/// A thousand exchanges through one place: each must wait for the one before to be taken.
#[test]
fn signals_hand_a_place_back_and_forth() {
    let in_ccl = Addr {
        buffer: Buffer::Ccl,
        offset: 0,
    };
    let put = Op {
        dst: in_ccl,
        elements: 1,
        ..op(OpKind::Put, 1)
    };
    let take = Op {
        src: in_ccl,
        elements: 1,
        ..op(OpKind::Reduce, 1)
    };
    let data = |op: Op| Op { flag: 1, ..op };
    let mut programs = [
        program(0, 2, 1000, &[wait(1), put, data(signal(1))]),
        program(1, 2, 1000, &[signal(0), data(wait(0)), take]),
    ];
    for p in &mut programs {
        p.segments[0].repeat.input_shift = 0;
        p.segments[0].repeat.output_shift = 0;
    }
    programs[0].segments[0].ops[1].src.offset = 12;
    assert_eq!(run(&programs).unwrap()[1][0], 3000);
}

#[test]
fn streams_are_joined_by_signals_to_oneself() {
    let on = |stream, op: Op| Op { stream, ..op };
    let first = Op {
        dst: Addr {
            buffer: Buffer::Ccl,
            offset: 0,
        },
        ..op(OpKind::Copy, 0)
    };
    let second = Op {
        src: first.dst,
        ..op(OpKind::Copy, 0)
    };
    let programs = [program(
        0,
        1,
        1,
        &[
            on(0, wait(0)),
            on(0, second),
            on(1, first),
            on(1, signal(0)),
        ],
    )];
    assert_eq!(run(&programs).unwrap()[0][..4], [0, 1, 2, 3]);
}

#[test]
fn ranks_that_wait_for_one_another_are_named() {
    let ring = |rank: u32| program(rank, 3, 1, &[wait((rank + 2) % 3), signal((rank + 1) % 3)]);
    let error = run(&[ring(0), ring(1), ring(2)]).unwrap_err();
    let RunError::Deadlock { blocked } = &error else {
        panic!("{error}")
    };
    let who: Vec<_> = blocked
        .iter()
        .map(|b| (b.rank.0, b.peer.0, b.stream))
        .collect();
    assert_eq!(who, [(0, 2, 0), (1, 0, 0), (2, 1, 0)]);
    assert!(
        error.to_string().starts_with(
            "the ranks wait for one another: rank 0 waits for rank 2 in step 3 of node 7"
        ),
        "{error}"
    );
}

#[test]
fn signals_that_nobody_awaits_are_named() {
    let error = run(&[
        program(0, 2, 1, &[signal(1), signal(1)]),
        program(1, 2, 1, &[wait(0)]),
    ]);
    let unawaited = RunError::Unawaited {
        from: Rank(0),
        to: Rank(1),
        flag: 0,
    };
    assert_eq!(error, Err(unawaited));
}

fn fault(op: Op) -> Option<Fault> {
    // Two repetitions, each 16 bytes further in the input and the output.
    let programs = [program(0, 2, 2, &[op]), program(1, 2, 2, &[])];
    match Machine::new(&programs) {
        Ok(_) => None,
        Err(LoadError::Op {
            rank,
            op: refused,
            fault,
        }) => {
            assert_eq!((rank, refused), (Rank(0), op));
            Some(fault)
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn operations_that_would_go_wrong_are_refused() {
    let copy = op(OpKind::Copy, 0);
    let put = op(OpKind::Put, 1);
    let to = |op: Op, buffer, offset| Op {
        dst: Addr { buffer, offset },
        ..op
    };
    let from = |op: Op, buffer, offset| Op {
        src: Addr { buffer, offset },
        ..op
    };
    let rows = |op: Op, rows, src_pitch, dst_pitch| Op {
        rows,
        src_pitch,
        dst_pitch,
        ..op
    };
    assert_eq!(fault(copy), None);
    assert_eq!(
        fault(Op {
            peer: Rank(2),
            ..put
        }),
        Some(Fault::NoSuchRank)
    );
    assert_eq!(fault(Op { stream: 2, ..copy }), Some(Fault::NoSuchStream));
    // 64 bytes hold 16 from 32 on in the second repetition, but not from 33 on.
    assert_eq!(fault(to(put, Buffer::Output, 32)), None);
    assert_eq!(fault(to(put, Buffer::Output, 33)), Some(Fault::OutOfBounds));
    assert_eq!(
        fault(from(put, Buffer::Input, 33)),
        Some(Fault::OutOfBounds)
    );
    assert_eq!(fault(to(put, Buffer::Ccl, 48)), None);
    assert_eq!(fault(to(put, Buffer::Ccl, 49)), Some(Fault::OutOfBounds));
    assert_eq!(fault(rows(copy, 3, 16, 16)), None);
    assert_eq!(fault(rows(copy, 4, 16, 16)), Some(Fault::OutOfBounds));
    assert_eq!(
        fault(rows(copy, u64::MAX, 16, 16)),
        Some(Fault::OutOfBounds)
    );
    assert_eq!(fault(rows(copy, 0, 16, 16)), Some(Fault::OutOfBounds));
    assert_eq!(
        fault(Op {
            elements: u64::MAX,
            ..copy
        }),
        Some(Fault::OutOfBounds)
    );
    assert_eq!(
        fault(to(copy, Buffer::Output, u64::MAX)),
        Some(Fault::OutOfBounds)
    );
    assert_eq!(fault(rows(copy, 2, 16, 15)), Some(Fault::RowsOverlap));
    assert_eq!(fault(to(copy, Buffer::Input, 32)), Some(Fault::WritesInput));
    let within = from(to(copy, Buffer::Ccl, 16), Buffer::Ccl, 0);
    assert_eq!(fault(within), None);
    assert_eq!(fault(from(within, Buffer::Ccl, 1)), Some(Fault::Overlap));
    assert_eq!(
        fault(Op {
            kind: OpKind::Put,
            peer: Rank(1),
            ..from(within, Buffer::Ccl, 1)
        }),
        None
    );
}

#[test]
fn programs_that_do_not_belong_together_are_refused() {
    let incomplete = |programs: &[Program]| match Machine::new(programs) {
        Err(LoadError::Incomplete { position }) => position,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the programs are refused"),
    };
    assert_eq!(incomplete(&[program(0, 2, 1, &[])]), 0);
    assert_eq!(
        incomplete(&[program(0, 2, 1, &[]), program(0, 2, 1, &[])]),
        1
    );
    assert_eq!(incomplete(&[Program::default()]), 0);

    let other_type = |mut p: Program| {
        p.header = p.header.map(|h| Header {
            dtype: DType::F64,
            ..h
        });
        p
    };
    let types = [program(0, 2, 1, &[]), other_type(program(1, 2, 1, &[]))];
    assert_eq!(incomplete(&types), 1);

    let on = |stream, op: Op| Op { stream, ..op };
    let several = [program(0, 1, 1, &[on(0, wait(0)), on(1, wait(0))])];
    let error = Machine::new(&several).err();
    assert!(
        matches!(
            error,
            Some(LoadError::Op {
                fault: Fault::SeveralWaiters,
                ..
            })
        ),
        "{error:?}"
    );

    let mut moves_only = [program(0, 1, 1, &[op(OpKind::Reduce, 0)])];
    moves_only[0].header = moves_only[0].header.map(|h| Header { reduce: None, ..h });
    let error = Machine::new(&moves_only).err();
    assert!(
        matches!(
            error,
            Some(LoadError::Op {
                fault: Fault::NothingToReduce,
                ..
            })
        ),
        "{error:?}"
    );
}

#[test]
fn buffers_must_have_the_sizes_of_the_programs() {
    let programs = [program(0, 1, 1, &[])];
    let machine = Machine::new(&programs).unwrap();
    let mut scratch = Scratch::new(&machine).unwrap();
    let (short, mut output) = ([0u8; 63], [0u8; 64]);
    let wrong = |needs, has| {
        Err(RunError::WrongSize {
            rank: Rank(0),
            needs,
            has,
        })
    };
    let run = |inputs: &[&[u8]], outputs: &mut [&mut [u8]], scratch: &mut Scratch| {
        machine.run(inputs, outputs, scratch, Order::Threads(1))
    };
    assert_eq!(
        run(&[&short], &mut [&mut output], &mut scratch),
        wrong(64, 63)
    );
    assert_eq!(run(&[&[0; 64]], &mut [], &mut scratch), wrong(64, 0));
    assert_eq!(run(&[&[0; 64]], &mut [&mut output], &mut scratch), Ok(()));
}
