//! Mistakes that have a name: what was meant is known, so the message says it and the fix does it.

use super::error::SyntaxError;
use super::explain::{Stop, nearest};
use crate::diagnostics::codes;
use coll_grammar::Rule;
use coll_grammar::number::UNITS;
use coll_grammar::words::RESERVED;

/// Rules that a name could have matched.
const NAMES: [Rule; 9] = [
    Rule::name,
    Rule::level,
    Rule::engine,
    Rule::op,
    Rule::path,
    Rule::state,
    Rule::template_name,
    Rule::param,
    Rule::use_name,
];
/// Rules that a value could have matched.
const VALUES: [Rule; 5] = [
    Rule::operand,
    Rule::weight_operand,
    Rule::expr,
    Rule::weight_expr,
    Rule::call_or_path,
];

/// The message for a mistake that has a name.
pub(super) fn find(stop: &Stop<'_>) -> Option<SyntaxError> {
    let found = stop.found();
    let value = stop.expected.any(&VALUES);
    let infix = stop.expected.any(&[Rule::infix, Rule::weight_infix]);
    other_spelling(stop, found, value, infix)
        .or_else(|| separator(stop, found))
        .or_else(|| unit(stop, found, value))
        .or_else(|| reserved(stop, found))
        .or_else(|| character(stop, found))
}

/// A safe replacement of what was found.
fn replace(stop: &Stop<'_>, message: &str, help: &str, by: &str) -> SyntaxError {
    let span = stop.found_span();
    SyntaxError::new(codes::E0101, span, message)
        .here("not expected here")
        .help(help)
        .safe_fix(format!("replace with `{by}`"), span, by)
}

/// Operators as other languages spell them.
fn other_spelling(stop: &Stop<'_>, found: &str, value: bool, infix: bool) -> Option<SyntaxError> {
    let expects = |rule| stop.expected.any(&[rule]);
    Some(match found {
        "&&" if infix => replace(stop, "`&&` is written `and`", "write `and`", "and"),
        "||" if infix => replace(stop, "`||` is written `or`", "write `or`", "or"),
        "!" if value => replace(stop, "`!` is written `not`", "write `not`", "not "),
        "->" if expects(Rule::target_arrow) => {
            replace(stop, "a rule leads on with `=>`", "write `=>`", "=>")
        }
        "=>" if expects(Rule::arrow) => {
            replace(stop, "a chain of engines is written with `->`", "write `->`", "->")
        }
        "==" | ":=" if expects(Rule::assign) => {
            replace(stop, "a definition is written with `=`", "write `=`", "=")
        }
        "=" if infix => replace(
            stop,
            "`=` defines, it does not compare",
            "compare with `==`",
            "==",
        ),
        "%" if infix => SyntaxError::new(codes::E0101, stop.found_span(), "there is no `%`")
            .here("not an operator")
            .help(
                "ranks wrap around by themselves; for integers write `a - b * (a / b)`, and percent \
                 directly behind its number: `25%`",
            ),
        ".." if infix || expects(Rule::level_range) => SyntaxError::new(
            codes::E0101,
            stop.found_span(),
            "a range says whether its end belongs to it",
        )
        .here("neither `..<` nor `..=`")
        .help("write `a ..< b` without the end, `a ..= b` with it")
        .suggest("leave the end out with `..<`", stop.found_span(), "..<"),
        "elif" | "elseif" | "elsif" => {
            replace(stop, "another condition is written `else if`", "write `else if`", "else if")
        }
        "while" | "loop" => SyntaxError::new(
            codes::E0101,
            stop.found_span(),
            format!("there is no `{found}`: every loop has a bound"),
        )
        .here("not expected here")
        .help("write `for NAME in A ..< B { … }`"),
        _ => return None,
    })
}

/// `,` for `;` between the children of a tree, and the other way round.
fn separator(stop: &Stop<'_>, found: &str) -> Option<SyntaxError> {
    let in_tree = matches!(stop.expected.context(), Rule::one_tree | Rule::one_child)
        || stop.expected.any(&[Rule::close_tree]);
    if found == "," && in_tree && !stop.expected.any(&[Rule::rparen]) {
        return Some(replace(
            stop,
            "the children of a tree are separated by `;`",
            "write `;`",
            ";",
        ));
    }
    if found == ";" && stop.expected.any(&[Rule::comma]) && !stop.expected.any(&[Rule::semi]) {
        return Some(
            SyntaxError::new(
                codes::E0101,
                stop.found_span(),
                format!("expected {}, found `;`", stop.expected.list()),
            )
            .here("the list is not closed")
            .help("items of a list are separated by `,`, and the list is closed before `;`"),
        );
    }
    None
}

/// A number whose unit does not exist.
fn unit(stop: &Stop<'_>, found: &str, value: bool) -> Option<SyntaxError> {
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_');
    let (start, word) = if value && found.starts_with(|c: char| c.is_ascii_digit()) {
        // Digits and letters in one word: `5usec`.
        let rest = &stop.code[stop.at..];
        let digits = rest.find(|c| !is_digit(c))?;
        let letters = &rest[digits..];
        let end = letters
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(letters.len());
        (stop.at + digits, &letters[..end])
    } else if found.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let number = stop.before();
        let digits = number.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '.');
        if !number[digits.len()..].starts_with(|c: char| c.is_ascii_digit())
            || stop.code[number.len()..stop.at].contains('\n')
        {
            return None;
        }
        (stop.at, found)
    } else {
        return None;
    };
    if word.is_empty() {
        return None;
    }
    let glued = start != stop.at;
    let span = stop.span(start, start + word.len());
    let error = SyntaxError::new(codes::E0106, span, format!("`{word}` is no unit"));
    match meant_unit(word) {
        Some(unit) => Some(
            error
                .help(format!("did you mean `{unit}`?"))
                .suggest(format!("replace with `{unit}`"), span, unit),
        ),
        None if glued => Some(error.help(
            "counts take `k M G Ki Mi Gi`, bytes `B KB MB GB TB KiB MiB GiB TiB`, times `ns us ms s`, \
             bandwidths bytes and `/s`, ratios `%`",
        )),
        None => None,
    }
}

/// The unit that is meant by a word that is none.
fn meant_unit(word: &str) -> Option<&'static str> {
    const OTHERS: [(&str, &str); 22] = [
        ("sec", "s"),
        ("secs", "s"),
        ("second", "s"),
        ("seconds", "s"),
        ("msec", "ms"),
        ("usec", "us"),
        ("nsec", "ns"),
        ("byte", "B"),
        ("bytes", "B"),
        ("percent", "%"),
        ("kbps", "KB/s"),
        ("mbps", "MB/s"),
        ("gbps", "GB/s"),
        ("tbps", "TB/s"),
        ("kib", "KiB"),
        ("mib", "MiB"),
        ("gib", "GiB"),
        ("tib", "TiB"),
        ("kb", "KB"),
        ("mb", "MB"),
        ("gb", "GB"),
        ("tb", "TB"),
    ];
    let lower = word.to_ascii_lowercase();
    let same = |unit: &&str| unit.eq_ignore_ascii_case(word);
    OTHERS
        .iter()
        .find(|(other, _)| *other == lower)
        .map(|&(_, unit)| unit)
        .or_else(|| UNITS.iter().map(|unit| unit.0).find(same))
}

/// A reserved word where a name is needed.
fn reserved(stop: &Stop<'_>, found: &str) -> Option<SyntaxError> {
    if !RESERVED.contains(&found) || !(stop.expected.any(&NAMES) || stop.expected.any(&VALUES)) {
        return None;
    }
    // A keyword that is written wrongly says more.
    let keyword = nearest(found, stop.expected.keywords());
    if keyword.is_some() {
        return None;
    }
    Some(
        SyntaxError::new(
            codes::E0108,
            stop.found_span(),
            format!("`{found}` is a reserved word and cannot be a name"),
        )
        .here(format!("expected {}", stop.expected.list()))
        .help(format!("choose another name, such as `{found}_`")),
    )
}

/// Characters that belong to no construct.
fn character(stop: &Stop<'_>, found: &str) -> Option<SyntaxError> {
    let c = found.chars().next()?;
    let meant = match c {
        '“' | '”' | '„' | '\'' | '`' => "\"",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '×' | '·' => "*",
        '÷' => "/",
        '−' | '–' => "-",
        '→' => "->",
        '⇒' => "=>",
        '#' => "//",
        c if c.is_ascii() => return None,
        c => {
            let message = format!("`{c}` cannot stand here");
            return Some(
                SyntaxError::new(codes::E0101, stop.found_span(), message)
                    .here("not expected here")
                    .help("names are written in ASCII; comments and strings hold any text"),
            );
        }
    };
    let help = match meant {
        "//" => "comments begin with `//`".to_owned(),
        "\"" => "texts stand in `\"`".to_owned(),
        _ => format!("write `{meant}`"),
    };
    Some(
        SyntaxError::new(
            codes::E0101,
            stop.found_span(),
            format!("`{c}` is no part of the language"),
        )
        .here("not expected here")
        .help(help)
        .suggest(format!("replace with `{meant}`"), stop.found_span(), meant),
    )
}
