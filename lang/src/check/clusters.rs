//! Declared clusters.

use super::context::{ModuleChecker, unknown_word};
use super::instantiate::MAX_DEPTH;
use super::value::{Type, Value};
use crate::diagnostics::{Diagnostic, codes};
use crate::library::{Cluster, ClusterSpec, MemorySpec, NetSpec, PlaneSpec, Sizes};
use crate::resolve::{LoadedItem, Lookup, Symbol, SymbolKind};
use crate::source::{ItemId, Place, Span};
use crate::syntax::ast::{self, ClusterStmt, Expr, ExprKind, Memory, Name, Net, Plane, PlaneStmt};
use coll_grammar::number::{Dimension, Quantity, Rational};
use coll_grammar::words::PlaneKind;
use indexmap::IndexMap;
use indexmap::map::Entry;
use num_traits::{Signed, Zero};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The largest number of ranks: rank numbers have 32 bits.
pub(super) const MAX_RANKS: u64 = u32::MAX as u64;

impl ModuleChecker<'_, '_> {
    pub(super) fn cluster(
        &mut self,
        item: &LoadedItem,
        symbol: &Symbol,
        ast: &ast::Cluster,
    ) -> Cluster {
        let known = self.diagnostics.len();
        let mut spec = ClusterSpec {
            device: None,
            nets: Vec::new(),
            memory: IndexMap::new(),
            facts: IndexMap::new(),
        };
        let mut seen = Seen::default();
        let mut broken = !item.parsed.is_sound();
        let mut net_number = 0;
        let incomplete = ast.body.iter().any(|s| matches!(s, ClusterStmt::Error(_)));
        for stmt in &ast.body {
            match stmt {
                ClusterStmt::Device(name) => {
                    let place = Self::place(item.id, name.span);
                    self.once(&mut seen, "the device", place);
                    spec.device = Some(name.text.clone());
                }
                ClusterStmt::Net(net) => {
                    // Where a statement did not parse, it may have been a net.
                    let expected = (!incomplete).then_some(net_number);
                    net_number += 1;
                    match self.net(item.id, net, expected) {
                        Some(net) => spec.nets.push(net),
                        None => broken = true,
                    }
                }
                ClusterStmt::Memory(memory) => self.memory(item.id, memory, &mut spec, &mut seen),
                ClusterStmt::Fact { name, value } => {
                    self.declared_fact(item.id, name, value, &mut spec, &mut seen);
                }
                ClusterStmt::Error(_) => broken = true,
            }
        }
        if !broken {
            self.check_nets(item.id, ast, symbol.place, &spec.nets);
            spec.settle();
        }
        let mut declared = self.declared(item, symbol, known);
        declared.sound &= !broken;
        Cluster { declared, spec }
    }

    /// Reports what stands twice in a cluster.
    fn once(&mut self, seen: &mut Seen, what: &str, place: Place) -> bool {
        match seen.0.insert(what.to_owned(), place) {
            None => true,
            Some(first) => {
                let message = format!("{what} is given twice");
                self.report(
                    Diagnostic::new(codes::E0901, place, message).label(first, "first given here"),
                );
                false
            }
        }
    }

    fn net(&mut self, item: ItemId, net: &Net, expected: Option<u64>) -> Option<NetSpec> {
        let known = self.diagnostics.len();
        let index = self.whole(item, &net.index, "the number of a net", "net 0", 0);
        if let (Some(index), Some(expected)) = (index, expected.filter(|&e| index != Some(e))) {
            let message = format!("this is net {index}, where net {expected} has to stand");
            let place = Self::place(item, net.index.span);
            self.report(
                Diagnostic::new(codes::E0901, place, message)
                    .help("nets are numbered from 0, the innermost first")
                    .suggest(format!("number it {expected}"), place, expected.to_string()),
            );
        }
        let sizes = self.sizes(item, &net.size);
        let mut planes: Vec<PlaneSpec> = Vec::new();
        let mut places: Vec<Span> = Vec::new();
        let mut broken = false;
        for stmt in &net.planes {
            let PlaneStmt::Plane(plane) = stmt else {
                broken = true;
                continue;
            };
            if let Some(i) = planes.iter().position(|p| p.name == plane.name.text) {
                let place = Self::place(item, plane.name.span);
                let message = format!("the plane `{}` is declared twice", plane.name.text);
                self.report(
                    Diagnostic::new(codes::E0901, place, message)
                        .label(Self::place(item, places[i]), "first declared here"),
                );
            }
            if let Some(spec) = self.plane(item, plane) {
                planes.push(spec);
                places.push(plane.name.span);
            }
        }
        let sizes = sizes?;
        (index.is_some() && !broken && self.diagnostics.len() == known).then(|| NetSpec {
            label: net.label.as_ref().map(|l| l.text.clone()),
            sizes,
            planes,
        })
    }

    fn sizes(&mut self, item: ItemId, size: &Expr) -> Option<Sizes> {
        let what = "the size of a net";
        let one = |this: &mut Self, expr: &Expr| {
            let size = this.whole(item, expr, what, "net 0: 8;", 1)?;
            let fits = u32::try_from(size).ok();
            if fits.is_none() {
                let place = Self::place(item, expr.span);
                let message = format!("{size} ranks are more than the {MAX_RANKS} there can be");
                this.report(Diagnostic::new(codes::E0901, place, message));
            }
            fits
        };
        let ExprKind::List(list) = &size.kind else {
            return one(self, size).map(Sizes::Even);
        };
        if list.is_empty() {
            let place = Self::place(item, size.span);
            self.report(Diagnostic::new(
                codes::E0901,
                place,
                "a net has at least one group",
            ));
            return None;
        }
        let sizes: Vec<Option<u32>> = list.iter().map(|expr| one(self, expr)).collect();
        let sizes: Option<Vec<u32>> = sizes.into_iter().collect();
        sizes.map(Sizes::Uneven)
    }

    /// A whole number from `least`.
    fn whole(
        &mut self,
        item: ItemId,
        expr: &Expr,
        what: &str,
        example: &str,
        least: u64,
    ) -> Option<u64> {
        let code = codes::E0901;
        let number = self.quantity(item, expr, Dimension::NONE, what, example, code)?;
        let whole = number.to_u64().filter(|&n| n >= least);
        if whole.is_none() {
            let place = Self::place(item, expr.span);
            let message = format!("{what} is a whole number from {least}, and this is {number}");
            self.report(Diagnostic::new(codes::E0901, place, message));
        }
        whole
    }

    fn plane(&mut self, item: ItemId, plane: &Plane) -> Option<PlaneSpec> {
        let kind = PlaneKind::parse(&plane.kind.text);
        if kind.is_none() {
            let place = Self::place(item, plane.kind.span);
            let words = PlaneKind::SPELLINGS;
            let mut diagnostic = unknown_word(place, &plane.kind.text, "a kind of plane", words);
            diagnostic.code = codes::E0901;
            self.report(diagnostic);
        }
        let bandwidth = self.positive(
            item,
            &plane.bandwidth,
            Dimension::RATE,
            "a bandwidth",
            "56 GB/s",
        );
        let latency = self.not_negative(
            item,
            &plane.latency,
            Dimension::SECONDS,
            "a latency",
            "1.5 us",
        );
        let ports = match &plane.ports {
            None => Some(1),
            Some(expr) => {
                let ports = self.whole(item, expr, "the number of ports", "ports 4", 1);
                ports.and_then(|p| u32::try_from(p).ok())
            }
        };
        Some(PlaneSpec {
            name: plane.name.text.clone(),
            kind: kind?,
            bandwidth: bandwidth?.value,
            latency: latency?.value,
            ports: ports?,
            protocol: plane.protocol.as_ref().map(|p| p.text.clone()),
            on_host: plane.on_host,
        })
    }

    fn not_negative(
        &mut self,
        item: ItemId,
        expr: &Expr,
        dimension: Dimension,
        what: &str,
        example: &str,
    ) -> Option<Quantity> {
        let quantity = self.quantity(item, expr, dimension, what, example, codes::E0901)?;
        if quantity.value.is_negative() {
            let place = Self::place(item, expr.span);
            let message = format!("{what} cannot be negative, and this is {quantity}");
            self.report(Diagnostic::new(codes::E0901, place, message));
            return None;
        }
        Some(quantity)
    }

    fn positive(
        &mut self,
        item: ItemId,
        expr: &Expr,
        dimension: Dimension,
        what: &str,
        example: &str,
    ) -> Option<Quantity> {
        let quantity = self.not_negative(item, expr, dimension, what, example)?;
        if quantity.value.is_zero() {
            let place = Self::place(item, expr.span);
            self.report(Diagnostic::new(
                codes::E0901,
                place,
                format!("{what} cannot be zero"),
            ));
            return None;
        }
        Some(quantity)
    }

    fn memory(&mut self, item: ItemId, memory: &Memory, spec: &mut ClusterSpec, seen: &mut Seen) {
        let engine = match &memory.engine {
            None => None,
            Some(name) => match self.engine(item, name) {
                Some(engine) => Some(engine),
                None => return,
            },
        };
        let what = match engine {
            None => "the memory of all engines".to_owned(),
            Some(engine) => format!("the memory of `{engine}`"),
        };
        if !self.once(seen, &what, Self::place(item, memory.span)) {
            return;
        }
        let mut entries = MemorySpec::default();
        let mut keys = Seen::default();
        for (key, value) in &memory.entries {
            let what = format!("`{}`", key.text);
            self.once(&mut keys, &what, Self::place(item, key.span));
            match key.text.as_str() {
                "copy" => entries.copy = self.memory_rate(item, value, "the rate of copies"),
                "reduce" => {
                    entries.reduce = self.memory_rate(item, value, "the rate of reductions");
                }
                "buffer" => entries.buffer = self.buffer(item, value),
                other => {
                    let place = Self::place(item, key.span);
                    let words = &["copy", "reduce", "buffer"];
                    let mut diagnostic = unknown_word(place, other, "an entry of a memory", words);
                    diagnostic.code = codes::E0901;
                    self.report(diagnostic);
                }
            }
        }
        spec.memory.insert(engine, entries);
    }

    fn memory_rate(&mut self, item: ItemId, value: &Expr, what: &str) -> Option<Rational> {
        self.positive(item, value, Dimension::RATE, what, "1400 GB/s")
            .map(|q| q.value)
    }

    fn buffer(&mut self, item: ItemId, value: &Expr) -> Option<u64> {
        let what = "the size of a buffer";
        let quantity = self.positive(item, value, Dimension::BYTES, what, "200 MiB")?;
        let bytes = quantity.to_u64();
        if bytes.is_none() {
            let place = Self::place(item, value.span);
            let message = format!("{what} is a whole number of bytes, and this is {quantity}");
            self.report(Diagnostic::new(codes::E0901, place, message));
        }
        bytes
    }

    fn declared_fact(
        &mut self,
        item: ItemId,
        name: &Name,
        value: &Expr,
        spec: &mut ClusterSpec,
        seen: &mut Seen,
    ) {
        let place = Self::place(item, name.span);
        if super::compile::is_built_in(&name.text) {
            let message = format!("`{}` means something else in conditions", name.text);
            self.report(Diagnostic::new(codes::E0901, place, message).help("rename the fact"));
        }
        self.once(seen, &format!("the fact `{}`", name.text), place);
        let Some(value) = self.fact_value(item, value) else {
            return;
        };
        let (expected, found) = (self.cx.facts.get(&name.text), fact_type(&name.text, &value));
        if let Some(expected) = expected.filter(|e| **e != found) {
            let message = format!(
                "the fact `{}` is {found} here, and {expected} in another cluster",
                name.text
            );
            self.report(
                Diagnostic::new(codes::E0901, place, message)
                    .help("a fact has the same type wherever it is declared"),
            );
        }
        if let Entry::Vacant(entry) = spec.facts.entry(name.text.clone()) {
            entry.insert(value);
        }
    }

    /// A constant, or a bare word that names nothing else.
    pub(super) fn fact_value(&mut self, item: ItemId, value: &Expr) -> Option<Value> {
        if let ExprKind::Path(path) = &value.kind
            && let Some(name) = path.as_name()
        {
            let is_let = matches!(
                self.cx.names.look_up(self.module, &path.parts),
                Lookup::Symbols { found, .. }
                    if self.cx.names.symbol(found[0]).kind == SymbolKind::Let
            );
            if !is_let && !matches!(name.text.as_str(), "true" | "false") {
                return Some(Value::Word(name.text.clone()));
            }
        }
        self.constant(item, value)
    }

    /// Rules about all nets together.
    fn check_nets(&mut self, item: ItemId, ast: &ast::Cluster, place: Place, nets: &[NetSpec]) {
        let statements: Vec<&Net> = ast
            .body
            .iter()
            .filter_map(|s| match s {
                ClusterStmt::Net(net) => Some(net),
                _ => None,
            })
            .collect();
        let fault = match check_nets(nets) {
            Ok(_) => return,
            Err(fault) => fault,
        };
        let place = match fault.net.and_then(|k| statements.get(k)) {
            Some(net) => Self::place(item, net.size.span),
            None => place,
        };
        let mut diagnostic = Diagnostic::new(codes::E0901, place, fault.message);
        diagnostic.help = fault.help;
        self.report(diagnostic);
    }
}

/// What a cluster has said already, and where.
#[derive(Default)]
struct Seen(FxHashMap<String, Place>);

/// The type of a declared fact: a word belongs to the fact's own vocabulary.
pub(super) fn fact_type(name: &SmolStr, value: &Value) -> Type {
    match value {
        Value::Word(_) => Type::Word(super::value::Vocabulary::open(format!("a `{name}`"))),
        other => Type::of(other),
    }
}

/// A fault of all nets together.
#[derive(Debug)]
pub(super) struct NetsFault {
    /// The net at which it shows.
    pub(super) net: Option<usize>,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// The number of ranks, if the sizes of all nets go together.
pub(super) fn check_nets(nets: &[NetSpec]) -> Result<u64, NetsFault> {
    let fault = |net: Option<usize>, message: String| NetsFault {
        net,
        message,
        help: None,
    };
    if nets.is_empty() {
        return Err(NetsFault {
            help: Some("write `net 0: 8;` for eight ranks".to_owned()),
            ..fault(None, "a cluster has at least one net".to_owned())
        });
    }
    if nets.len() > MAX_DEPTH as usize {
        let message = format!("a cluster has at most {MAX_DEPTH} nets, not {}", nets.len());
        return Err(fault(None, message));
    }
    let mut groups = 1u64;
    for (k, net) in nets.iter().enumerate().rev() {
        if let Sizes::Uneven(sizes) = &net.sizes
            && sizes.len() as u64 != groups
        {
            let message = format!(
                "net {k} has {} sizes, and {groups} {}",
                sizes.len(),
                match groups {
                    1 => "group",
                    _ => "groups",
                }
            );
            return Err(NetsFault {
                help: Some(match k + 1 < nets.len() {
                    true => format!(
                        "write one size for each group that net {} joins, or one for all",
                        k + 1
                    ),
                    false => "the outermost net has one group".to_owned(),
                }),
                ..fault(Some(k), message)
            });
        }
        groups = net.sizes.groups_below(groups);
        if groups > MAX_RANKS {
            let message = format!("the cluster has more than {MAX_RANKS} ranks");
            return Err(fault(Some(k), message));
        }
    }
    Ok(groups)
}

impl ClusterSpec {
    /// Writes lists of equal sizes as one size; only after [`check_nets`], for which the length of a
    /// list matters.
    pub(super) fn settle(&mut self) {
        for net in &mut self.nets {
            if let Sizes::Uneven(sizes) = &net.sizes
                && let Some(&first) = sizes.first().filter(|f| sizes.iter().all(|s| s == *f))
            {
                net.sizes = Sizes::Even(first);
            }
        }
    }
}
