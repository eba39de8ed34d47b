//! What is emitted, operation by operation.

use crate::common::{Levels, flat, grid, parse, planners};
use coll_cluster::Rank;
use coll_executor::{Addr, Buffer, Capabilities, Executor, Op, OpKind, Program, Request};
use coll_lang::words::{DType, Operation, ReduceOp};

fn request(op: Operation, count: u64, ccl_bytes: u64) -> Request {
    Request {
        op,
        count,
        dtype: DType::I32,
        reduce: (op != Operation::AllGather).then_some(ReduceOp::Sum),
        root: None,
        ccl_bytes,
        loop_bytes: None,
    }
}

fn program(
    text: &str,
    sizes: &[u32],
    levels: Levels<'_>,
    request: &Request,
    rank: u32,
    remote_output: bool,
) -> Program {
    let tree = flat(&parse(text), levels, sizes.len() as u32);
    let (matched, planners) = (grid(sizes, levels), planners());
    let executor = Executor::new(&tree, &matched, &planners, request).unwrap();
    let mut program = Program::new(Capabilities { remote_output });
    executor.emit(Rank(rank), &mut program).unwrap();
    program
}

/// `put 1 I0 > O8 2x4 @16,32`: two rows of four elements, 16 and 32 bytes apart.
fn show(op: &Op) -> String {
    let addr = |a: Addr| {
        let buffer = match a.buffer {
            Buffer::Input => 'I',
            Buffer::Output => 'O',
            Buffer::Ccl => 'C',
        };
        format!("{buffer}{}", a.offset)
    };
    let rows = match op.rows {
        1 => op.elements.to_string(),
        n => format!("{n}x{} @{},{}", op.elements, op.src_pitch, op.dst_pitch),
    };
    let moved = format!("{} > {} {rows}", addr(op.src), addr(op.dst));
    let stream = if op.stream == 0 {
        String::new()
    } else {
        format!("{}| ", op.stream)
    };
    let what = match op.kind {
        OpKind::Put => format!("put {} {moved}", op.peer),
        OpKind::Copy => format!("copy {moved}"),
        OpKind::Reduce => format!("reduce {moved}"),
        OpKind::Signal => format!("signal {} {}", op.peer, op.flag),
        OpKind::Wait => format!("wait {} {}", op.peer, op.flag),
    };
    stream + &what
}

fn ops(program: &Program, segment: usize) -> Vec<String> {
    program.segments[segment].ops.iter().map(show).collect()
}

const LEVELS: Levels<'_> = &[&[0], &[1]];

/// Nothing goes through the CCL buffer where the engine can put into a peer's output.
#[test]
fn a_single_all_gather_goes_from_input_to_output() {
    let request = request(Operation::AllGather, 5, 1 << 20);
    let direct = program("ag.mesh@0", &[3], &[&[0]], &request, 1, true);
    assert_eq!(
        ops(&direct, 0),
        [
            "signal 0 0",
            "signal 2 0",
            "wait 2 0",
            "put 2 I0 > O20 5",
            "signal 2 1",
            "wait 0 0",
            "put 0 I0 > O20 5",
            "signal 0 1",
            "wait 0 1",
            "wait 2 1",
            "copy I0 > O20 5",
        ]
    );
    let staged = program("ag.mesh@0", &[3], &[&[0]], &request, 1, false);
    assert_eq!(
        ops(&staged, 0)[2..],
        [
            "wait 2 0",
            "put 2 I0 > C20 5",
            "signal 2 1",
            "wait 0 0",
            "put 0 I0 > C20 5",
            "signal 0 1",
            "wait 0 1",
            "wait 2 1",
            "copy C0 > O0 5",
            "copy I0 > O20 5",
            "copy C40 > O40 5",
        ]
    );
}

/// What a leaf holds of a slot of its level is a bundle, and goes as one strided move; the last leaf
/// copies its whole input list to the output, not the rank's own slot alone.
#[test]
fn bundles_are_strided_moves() {
    let request = request(Operation::AllGather, 5, 1 << 20);
    let program = program(
        "seq(ag.mesh@1, ag.mesh@0)",
        &[2, 3],
        LEVELS,
        &request,
        3,
        true,
    );
    let moves: Vec<String> = program.segments[0]
        .ops
        .iter()
        .filter(|op| op.kind.moves())
        .map(show)
        .collect();
    assert_eq!(
        moves,
        [
            "put 5 I0 > C60 5",
            "put 1 I0 > C60 5",
            "copy I0 > C60 5",
            "put 2 C20 > O20 3x5 @40,40",
            "copy C20 > O20 3x5 @40,40",
        ]
    );
}

/// The slots of one step of nhr are evenly spaced where n is a power of two.
#[test]
fn slots_of_one_transfer_are_joined() {
    let request = request(Operation::AllGather, 1, 1 << 20);
    let program = program("ag.nhr@0", &[8], &[&[0]], &request, 1, true);
    let puts: Vec<String> = program.segments[0]
        .ops
        .iter()
        .filter(|op| op.kind == OpKind::Put)
        .map(show)
        .collect();
    // Its own slot still lies in the input, the others in the output.
    assert_eq!(
        puts,
        [
            "put 5 I0 > O4 1",
            "put 3 I0 > O4 1",
            "put 3 O20 > O20 1",
            "put 2 I0 > O4 1",
            "put 2 O12 > O12 3x1 @8,8",
        ]
    );
}

/// Contributions are added in the order of the ranks, the rank's own in its place.
#[test]
fn reductions_are_in_rank_order() {
    let request = request(Operation::ReduceScatter, 5, 1 << 20);
    let program = program("rs.mesh@0", &[4], &[&[0]], &request, 2, true);
    assert_eq!(
        ops(&program, 0)[12..],
        [
            "wait 1 1",
            "wait 0 1",
            "wait 3 1",
            "copy I40 > O0 5",
            // Ranks 0, 1 and 3 are parked behind the four slots.
            "reduce C100 > C80 5",
            "reduce C80 > O0 5",
            "reduce C120 > O0 5",
        ]
    );
}

/// The last slot has the rest of the vector; it is moved with it where that is one piece.
#[test]
fn tails_go_with_the_last_slot() {
    let request = request(Operation::AllReduce, 11, 1 << 20);
    let program = program("ar.mesh@0", &[3], &[&[0]], &request, 1, true);
    let moves: Vec<String> = program.segments[0]
        .ops
        .iter()
        .filter(|op| op.kind.moves())
        .map(show)
        .collect();
    assert_eq!(
        moves,
        [
            // Slots of 3 with 2 more on the last; in the CCL buffer each has room for 5.
            "put 2 I24 > C80 5",
            "put 0 I0 > C60 3",
            "copy I12 > O12 3",
            "reduce C60 > O12 3",
            "reduce C80 > O12 3",
            "put 2 O12 > O12 3",
            "put 0 O12 > O12 3",
        ]
    );
}

#[test]
fn a_share_without_elements_emits_nothing() {
    let request = request(Operation::AllGather, 1, 1 << 20);
    let program = program("par(ag.mesh@0, ag.nhr@0)", &[2], &[&[0]], &request, 0, true);
    // Half of one element is none, so the first branch is empty and only the second moves.
    assert_eq!(
        ops(&program, 0),
        [
            "signal 0 5",
            "1| wait 0 5",
            "1| signal 1 2",
            "1| wait 1 2",
            "1| put 1 I0 > O0 1",
            "1| signal 1 3",
            "1| wait 1 3",
            "1| copy I0 > O0 1",
            "1| signal 0 6",
            "wait 0 6",
        ]
    );
}

/// A level of one member moves nothing, but the last leaf still brings the data to the output.
#[test]
fn levels_of_one_member_only_copy_at_the_end() {
    let all_gather = request(Operation::AllGather, 5, 1 << 20);
    for (text, sizes, expected) in [
        ("ag.mesh@0", &[1, 1][..], vec!["copy I0 > O0 5"]),
        ("seq(ag.mesh@1, ag.nhr@0)", &[1, 1], vec!["copy I0 > O0 5"]),
        (
            "seq(ag.mesh@1, ag.nhr@0)",
            &[1, 2],
            vec![
                "signal 1 0",
                "wait 1 0",
                "put 1 I0 > C0 5",
                "signal 1 1",
                "wait 1 1",
                "copy I0 > C0 5",
                "copy C0 > O0 10",
            ],
        ),
    ] {
        // One level over everything stands in for the missing one.
        let levels: Levels<'_> = if text.starts_with("seq") {
            LEVELS
        } else {
            &[&[0, 1]]
        };
        let program = program(text, sizes, levels, &all_gather, 0, true);
        assert_eq!(ops(&program, 0), expected, "{text} {sizes:?}");
    }
}

/// N = 32, 100,000 f32, 8 MiB: loops of 65,536 and 34,464 elements.
#[test]
fn loops_of_hccl() {
    let levels: Levels<'_> = &[&[0], &[1], &[2], &[3]];
    let all_gather = Request {
        dtype: DType::F32,
        ..request(Operation::AllGather, 100_000, 8 << 20)
    };
    let text = "seq(ag.mesh@3, ag.nhr@2, ag.nhr@1, ag.mesh@0)";
    let program = program(text, &[4, 2, 2, 2], levels, &all_gather, 13, true);
    let first: Vec<(u64, String)> = program
        .segments
        .iter()
        .map(|s| {
            (
                s.repeat.times,
                show(s.ops.iter().find(|o| o.kind == OpKind::Put).unwrap()),
            )
        })
        .collect();
    assert_eq!(
        first,
        [
            // Rank 13's slot in the CCL buffer is 13 times the loop's slot.
            (1, format!("put 29 I0 > C{} 65536", 13 * 65_536 * 4)),
            (1, format!("put 29 I262144 > C{} 34464", 13 * 34_464 * 4)),
        ]
    );
}

/// A million loops cost no more than two.
#[test]
fn loops_of_one_shape_are_emitted_once() {
    let all_reduce = request(Operation::AllReduce, 4_000_000_003, 4 * 1000 * 4);
    let program = program("ar.ring@0", &[3], &[&[0]], &all_reduce, 0, true);
    let times: Vec<u64> = program.segments.iter().map(|s| s.repeat.times).collect();
    // Three slots and one parking place share the buffer: slots of 1000.
    assert_eq!(times, [1_333_333, 1]);
    assert_eq!(program.segments[0].repeat.input_shift, 3 * 1000 * 4);
    assert_eq!(program.header.unwrap().ccl_bytes, 16_000);
}

/// The fewest ranks of a grid as large as can be numbered are planned without ever listing it.
#[test]
fn one_rank_of_four_thousand_million() {
    let sizes = [2, 3, 5, 17, 257, 32768];
    let levels: Levels<'_> = &[&[0], &[1], &[2], &[3], &[4], &[5]];
    let all_gather = Request {
        dtype: DType::I8,
        ..request(Operation::AllGather, 1, u64::MAX)
    };
    let text = "seq(ag.nhr@5, ag.nhr@4, ag.nhr@3, ag.nhr@2, ag.nhr@1, ag.nhr@0)";
    let program = program(text, &sizes, levels, &all_gather, 4_294_901_759, true);
    let moved: u64 = program.segments[0]
        .ops
        .iter()
        .filter(|op| op.kind == OpKind::Put)
        .map(|op| op.rows * op.elements)
        .sum();
    assert_eq!(moved, 4_294_901_760 - 1);
    assert!(program.segments[0].ops.len() < 200_000);
}
