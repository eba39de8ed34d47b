//! Plain shapes: `8x4x2`, `[8,8,7]x3`.

use super::clusters::check_nets;
use crate::library::{ClusterSpec, NetSpec, PlaneSpec, Sizes};
use coll_grammar::number::{Quantity, Rational, parse};
use coll_grammar::words::PlaneKind;
use indexmap::IndexMap;
use std::ops::Range;

/// What is wrong with a shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ShapeError {
    /// The bytes of the text that are wrong.
    pub part: Range<usize>,
    /// One sentence without a full stop.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// Planes of a plain shape: a mesh inside the innermost layer, a switch above.
const MESH: (&str, &str) = ("56 GB/s", "1.5 us");
const SWITCH: (&str, &str) = ("50 GB/s", "3 us");
const SWITCH_PORTS: u32 = 4;

/// The cluster that a shape stands for: one size for each layer, the innermost first; a list gives
/// one size for each group of an uneven layer. Layer 0 is a `mesh1d 56 GB/s 1.5 us` called `mesh`,
/// every other a `clos 50 GB/s 3 us ports 4` called `ub`.
///
/// # Errors
/// The part of the text that is wrong, and why.
pub fn parse_shape(text: &str) -> Result<ClusterSpec, ShapeError> {
    let mut nets = Vec::new();
    let mut parts = Vec::new();
    for part in split_layers(text)? {
        let sizes = layer_sizes(text, part.clone())?;
        nets.push(NetSpec {
            label: None,
            sizes,
            planes: vec![plane(nets.len())],
        });
        parts.push(part);
    }
    if let Err(fault) = check_nets(&nets) {
        let part = fault.net.and_then(|k| parts.get(k).cloned());
        return Err(ShapeError {
            part: part.unwrap_or(0..text.len()),
            message: fault.message,
            help: fault.help.unwrap_or_else(|| EXAMPLE.to_owned()),
        });
    }
    let mut spec = ClusterSpec {
        device: None,
        nets,
        memory: IndexMap::new(),
        facts: IndexMap::new(),
    };
    spec.settle();
    Ok(spec)
}

const EXAMPLE: &str = "write the sizes of the layers, the innermost first: `8x4x2`, `[8,8,7]x3`";

fn error(part: Range<usize>, message: impl Into<String>) -> ShapeError {
    ShapeError {
        part,
        message: message.into(),
        help: EXAMPLE.to_owned(),
    }
}

/// The byte ranges between the `x`s that stand outside brackets.
fn split_layers(text: &str) -> Result<Vec<Range<usize>>, ShapeError> {
    let mut layers = Vec::new();
    let (mut start, mut open) = (0, None);
    for (i, c) in text.char_indices() {
        match c {
            '[' if open.is_some() => return Err(error(i..i + 1, "a list inside a list")),
            '[' => open = Some(i),
            ']' if open.take().is_none() => return Err(error(i..i + 1, "`]` without `[`")),
            'x' | 'X' if open.is_none() => {
                layers.push(start..i);
                start = i + 1;
            }
            _ => {}
        }
    }
    if let Some(open) = open {
        return Err(error(open..text.len(), "`[` without `]`"));
    }
    layers.push(start..text.len());
    Ok(layers)
}

fn layer_sizes(text: &str, part: Range<usize>) -> Result<Sizes, ShapeError> {
    let part = trim(text, part);
    let Some(list) = text[part.clone()].strip_prefix('[') else {
        return size(text, part).map(Sizes::Even);
    };
    let Some(list) = list.strip_suffix(']') else {
        return Err(error(part, "nothing can stand behind `]` but `x`"));
    };
    let mut sizes = Vec::new();
    let mut at = part.start + 1;
    for element in list.split(',') {
        sizes.push(size(text, trim(text, at..at + element.len()))?);
        at += element.len() + 1;
    }
    Ok(Sizes::Uneven(sizes))
}

fn trim(text: &str, part: Range<usize>) -> Range<usize> {
    let inner = &text[part.clone()];
    let start = part.start + (inner.len() - inner.trim_start().len());
    let end = (part.start + inner.trim_end().len()).max(start);
    start..end
}

fn size(text: &str, part: Range<usize>) -> Result<u32, ShapeError> {
    let digits = &text[part.clone()];
    if digits.is_empty() {
        return Err(error(part, "a size is missing"));
    }
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(error(part, format!("`{digits}` is no size")));
    }
    match digits.parse() {
        Ok(0) => Err(error(part, "a layer has at least one group")),
        Ok(size) => Ok(size),
        Err(_) => Err(error(
            part,
            format!("`{digits}` is more than a size can be"),
        )),
    }
}

fn plane(net: usize) -> PlaneSpec {
    let ((bandwidth, latency), name, kind, ports) = match net {
        0 => (MESH, "mesh", PlaneKind::Mesh1d, 1),
        _ => (SWITCH, "ub", PlaneKind::Clos, SWITCH_PORTS),
    };
    let value = |text| parse(text).map_or(Rational::from_integer(0), |q: Quantity| q.value);
    PlaneSpec {
        name: name.into(),
        kind,
        bandwidth: value(bandwidth),
        latency: value(latency),
        ports,
        protocol: None,
        on_host: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shapes_have_their_sizes_and_planes() {
        let spec = parse_shape("8x4x2").unwrap();
        let sizes: Vec<&Sizes> = spec.nets.iter().map(|n| &n.sizes).collect();
        assert_eq!(sizes, [&Sizes::Even(8), &Sizes::Even(4), &Sizes::Even(2)]);
        assert_eq!(spec.ranks(), 64);
        let planes: Vec<String> = spec
            .nets
            .iter()
            .flat_map(|n| &n.planes)
            .map(|p| {
                format!(
                    "{} {} {} {} {}",
                    p.name, p.kind, p.bandwidth, p.latency, p.ports
                )
            })
            .collect();
        assert_eq!(
            planes,
            [
                "mesh mesh1d 56000000000 3/2000000 1",
                "ub clos 50000000000 3/1000000 4",
                "ub clos 50000000000 3/1000000 4"
            ]
        );
        assert_eq!(parse_shape("7").unwrap().ranks(), 7);
        let uneven = parse_shape("[8, 8, 7] x 3").unwrap();
        assert_eq!(uneven.ranks(), 23);
        assert_eq!(uneven.nets[0].sizes, Sizes::Uneven(vec![8, 8, 7]));
        let even = parse_shape("[4,4]x2").unwrap();
        assert_eq!(even.nets[0].sizes, Sizes::Even(4));
        // The outer layer joins unequal numbers of servers: two and one.
        assert_eq!(parse_shape("[8,8,7]x[2,1]x2").unwrap().ranks(), 23);
    }

    #[test]
    fn the_wrong_part_is_shown() {
        for (text, part, message) in [
            ("", "", "a size is missing"),
            ("8x", "", "a size is missing"),
            ("8x0x2", "0", "a layer has at least one group"),
            ("8xfour", "four", "`four` is no size"),
            ("8x-1", "-1", "`-1` is no size"),
            ("8x99999999999", "99999999999", "more than a size can be"),
            ("[8,8x3", "[8,8x3", "`[` without `]`"),
            ("8]x3", "]", "`]` without `[`"),
            ("[8,[8]]x3", "[", "a list inside a list"),
            ("[8,8]7x3", "[8,8]7", "nothing can stand behind `]`"),
            ("[8,,7]x3", "", "a size is missing"),
            ("[8,8]x3", "[8,8]", "net 0 has 2 sizes, and 3 groups"),
            ("[8,8]", "[8,8]", "net 0 has 2 sizes, and 1 group"),
            ("65536x65536", "65536", "more than 4294967295 ranks"),
            (
                "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1",
                "1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1",
                "at most 16 nets",
            ),
        ] {
            let error = parse_shape(text).unwrap_err();
            assert!(error.message.contains(message), "{text}: {error:?}");
            assert_eq!(&text[error.part.clone()], part, "{text}: {error:?}");
        }
        assert_eq!(
            parse_shape("65535x65537").unwrap().ranks(),
            u64::from(u32::MAX)
        );
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[\\[\\]x0-9, é-]{0,20}") {
            if let Err(error) = parse_shape(&text) {
                prop_assert!(text.get(error.part).is_some());
            }
        }

        #[test]
        fn ranks_are_the_product_of_even_sizes(sizes in prop::collection::vec(1u32..9, 1..6)) {
            let text: Vec<String> = sizes.iter().map(u32::to_string).collect();
            let spec = parse_shape(&text.join("x")).unwrap();
            prop_assert_eq!(spec.ranks(), sizes.iter().map(|&s| u64::from(s)).product::<u64>());
        }
    }
}
