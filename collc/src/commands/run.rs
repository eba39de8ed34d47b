//! `collc run ALGORITHM --on CLUSTER`

mod arrays;
mod report;

use crate::cli::{Format, RunArgs};
use crate::output::{Failure, Outcome, Output};
use crate::session::{Session, parse_bytes, parse_count, parse_word};
use coll_cluster::Cluster;
use coll_executor::{DEFAULT_CCL_BYTES, Prepared, Request, prepare};
use coll_lang::check::facts::reduces;
use coll_lang::diagnostics::Diagnostic;
use coll_lang::library::{Algorithm, AlgorithmId, CallFacts, Library};
use coll_lang::words::{DType, ReduceOp};
use coll_local::{LocalError, Options, Order, Trial};
use coll_planner::NativePlanners;

pub(crate) fn run(args: &RunArgs, output: &mut Output) -> Outcome {
    output.accept(&[Format::Human, Format::Json])?;
    let session = Session::for_arguments(&[&args.algorithm, &args.on], &args.libraries)?;
    let id = session.algorithm(&args.algorithm, output)?;
    let cluster = session.cluster(&args.on, output)?;
    let library = &session.library;
    let algorithm = &library.algorithms[id.index()];
    let request = request(args, algorithm, &cluster)?;
    let call = CallFacts {
        op: request.op,
        count: request.count,
        dtype: request.dtype,
        reduce: request.reduce,
        root: request.root.map(|r| r.0),
        engine: None,
    };
    let prepared = prepare(library, id, &cluster, Some(call))
        .map_err(|e| session.refuse(e.diagnostic(library, id, &args.on), output))?;
    let planners = NativePlanners::of(library);
    let options = options(args);
    let refuse = |error: LocalError, output: &mut Output| {
        session.refuse(execution_failure(library, id, &error), output)
    };
    let mut trial = Trial::new(&prepared.matched, &prepared.tree, &planners, &request)
        .map_err(|e| refuse(e, output))?;
    match &args.input {
        Some(folder) => arrays::read(folder, &request, &mut trial)?,
        None => trial.fill(options.data_seed),
    }
    let progress = output.progress("running");
    let outcome = trial.run(&options);
    drop(progress);
    let outcome = outcome.map_err(|e| refuse(e, output))?;
    if let Some(folder) = &args.output {
        arrays::write(folder, &request, &trial)?;
    }
    let told = report::Report {
        library,
        algorithm,
        prepared: &prepared,
        request: &request,
        on: &args.on,
        outcome: &outcome,
    };
    told.print(output);
    if outcome.exact {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

/// What the arguments ask for.
fn request(args: &RunArgs, algorithm: &Algorithm, cluster: &Cluster) -> Result<Request, Failure> {
    let reduce = parse_word("--reduce", &args.reduce, ReduceOp::ALL, ReduceOp::as_str)?;
    let buffer = match &args.buffer {
        Some(text) => parse_bytes("--buffer", text)?,
        None => {
            let memory = cluster.spec().memory.get(&None);
            memory.and_then(|m| m.buffer).unwrap_or(DEFAULT_CCL_BYTES)
        }
    };
    Ok(Request {
        op: algorithm.op,
        count: parse_count("--count", &args.count)?,
        dtype: parse_word("--dtype", &args.dtype, DType::ALL, DType::as_str)?,
        reduce: reduces(algorithm.op).then_some(reduce),
        root: None,
        ccl_bytes: buffer,
        loop_bytes: None,
    })
}

fn options(args: &RunArgs) -> Options {
    let mut options = Options {
        repeat: args.repeat,
        ..Options::default()
    };
    if let Some(seed) = args.seed {
        options.order = Order::Seed(seed);
        options.data_seed = seed;
    }
    options
}

/// What to say when an algorithm could not be executed: at the source where that is known.
fn execution_failure(library: &Library, id: AlgorithmId, error: &LocalError) -> Diagnostic {
    let declared = &library.algorithms[id.index()].declared;
    let node = match error {
        LocalError::Exec(error) => error.node(),
        _ => None,
    };
    let place = node.map_or(declared.place, |node| library.node_place(node));
    Diagnostic::new(error.code(), place, format!("{}: {error}", declared.name))
}

/// A prepared algorithm has a stage for each leaf, in order.
fn leaves(prepared: &Prepared) -> impl Iterator<Item = coll_lang::library::TreeIx> + '_ {
    use coll_lang::library::{FlatKind, TreeIx};
    (0..prepared.tree.nodes.len() as u32)
        .map(TreeIx)
        .filter(|&ix| matches!(prepared.tree.node(ix).kind, FlatKind::Leaf { .. }))
}
