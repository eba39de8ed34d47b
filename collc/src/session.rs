//! Loading libraries and finding in them what arguments name.

use crate::cli::Libraries;
use crate::output::{Failure, Outcome, Output, Stream, did_you_mean};
use coll_cluster::Cluster;
use coll_lang::check::{check, parse_shape};
use coll_lang::diagnostics::{Diagnostic, Severity, codes};
use coll_lang::library::{AlgorithmId, ClusterSpec, Declared, Library};
use coll_lang::number::{self, Dimension};
use coll_lang::resolve::{LoadRequest, load};
use std::path::PathBuf;

/// Checked libraries and what was found wrong in them.
pub(crate) struct Session {
    pub(crate) library: Library,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// An argument that names something: alone, in a file, or the only one of a file.
struct Target<'a> {
    path: Option<PathBuf>,
    name: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// `NAME`, `FILE.coll`, `FILE.coll:NAME` or `FOLDER:NAME`.
    fn parse(text: &'a str) -> Self {
        let (head, name) = match text.rsplit_once(':') {
            Some((head, name)) => (head, Some(name)),
            None => (text, None),
        };
        let is_path = head.ends_with(".coll") || head.contains('/') || name.is_some();
        if is_path {
            Self {
                path: Some(PathBuf::from(head)),
                name,
            }
        } else {
            Self {
                path: None,
                name: Some(head),
            }
        }
    }
}

impl Session {
    /// Loads `paths`, the libraries of the arguments and of `COLL_PATH`.
    pub(crate) fn load(paths: Vec<PathBuf>, libraries: &Libraries) -> Result<Self, Failure> {
        for path in paths.iter().chain(&libraries.libs) {
            if let Err(error) = path.metadata() {
                return Err(Failure::Usage(format!(
                    "cannot read {}: {error}",
                    path.display()
                )));
            }
        }
        let search = std::env::var_os("COLL_PATH")
            .map(|v| {
                std::env::split_paths(&v)
                    .filter(|p| !p.as_os_str().is_empty())
                    .collect()
            })
            .unwrap_or_default();
        let request = LoadRequest {
            paths,
            libraries: libraries.libs.clone(),
            search,
            ..LoadRequest::default()
        };
        let (library, diagnostics) = check(load(request));
        Ok(Self {
            library,
            diagnostics,
        })
    }

    /// Loads what the arguments name.
    pub(crate) fn for_arguments(texts: &[&str], libraries: &Libraries) -> Result<Self, Failure> {
        let paths = texts
            .iter()
            .filter_map(|text| Target::parse(text).path)
            .collect();
        Self::load(paths, libraries)
    }

    /// The sound algorithm that an argument names.
    pub(crate) fn algorithm(
        &self,
        text: &str,
        output: &mut Output,
    ) -> Result<AlgorithmId, Failure> {
        let all = self.library.algorithms.iter().map(|a| &a.declared);
        let found = self.find("algorithm", &Target::parse(text), all)?;
        let declared = &self.library.algorithms[found].declared;
        if !declared.sound {
            self.report(output);
            return Err(Failure::Input(format!("{} has errors", declared.name)));
        }
        let errors = self.errors().count();
        if errors > 0 {
            output.note(format_args!(
                "note: {errors} error{} elsewhere in the loaded files; `collc check` shows {}",
                if errors == 1 { "" } else { "s" },
                if errors == 1 { "it" } else { "them" }
            ));
        }
        Ok(AlgorithmId(found as u32))
    }

    /// The cluster that an argument names: a shape, a declared one, or one of a file.
    pub(crate) fn cluster(&self, text: &str, output: &mut Output) -> Result<Cluster, Failure> {
        let spec = self.cluster_spec(text, output)?;
        Cluster::new(&spec).map_err(|error| Failure::Usage(format!("cluster {text}: {error}")))
    }

    fn cluster_spec(&self, text: &str, output: &mut Output) -> Result<ClusterSpec, Failure> {
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '[') {
            return parse_shape(text).map_err(|error| {
                let text = format!(
                    "`{text}` is not a cluster: {}; {}",
                    error.message, error.help
                );
                Failure::UsageCode(codes::E0902, text)
            });
        }
        let all = self.library.clusters.iter().map(|c| &c.declared);
        let found = self.find("cluster", &Target::parse(text), all)?;
        let cluster = &self.library.clusters[found];
        if !cluster.declared.sound {
            self.report(output);
            return Err(Failure::Input(format!(
                "cluster {} has errors",
                cluster.declared.name
            )));
        }
        Ok(cluster.spec.clone())
    }

    /// Prints everything that was found.
    pub(crate) fn report(&self, output: &mut Output) {
        let text = output.diagnostics(&self.diagnostics, &self.library.sources, Stream::Stderr);
        output.note(text.trim_end());
    }

    fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
    }

    /// Prints one finding and says that it ended the command.
    pub(crate) fn refuse(&self, diagnostic: Diagnostic, output: &mut Output) -> Failure {
        let text = output.diagnostics(&[diagnostic], &self.library.sources, Stream::Stderr);
        output.note(text.trim_end());
        Failure::Reported
    }

    /// The position of the one declaration that a target names.
    fn find<'a>(
        &self,
        what: &str,
        target: &Target<'_>,
        all: impl Iterator<Item = &'a Declared> + Clone,
    ) -> Result<usize, Failure> {
        let in_reach = |d: &Declared| {
            target.path.is_none() || self.library.modules[d.module.index()].requested
        };
        let matching: Vec<(usize, &Declared)> = all
            .clone()
            .enumerate()
            .filter(|(_, d)| in_reach(d) && target.name.is_none_or(|name| self.is_named(d, name)))
            .collect();
        match (matching.as_slice(), target.name) {
            ([(found, _)], _) => Ok(*found),
            ([], Some(name)) => {
                Err(self.not_found(what, name, target, all.filter(|d| in_reach(d))))
            }
            ([], None) => {
                let path = target.path.as_deref().unwrap_or(std::path::Path::new(""));
                if self.errors().next().is_some() {
                    return Err(Failure::Input(format!(
                        "{} declares no {what} that could be read; `collc check` shows why",
                        path.display()
                    )));
                }
                Err(Failure::Usage(format!(
                    "{} declares no {what}",
                    path.display()
                )))
            }
            (several, _) => {
                let names: Vec<String> = several
                    .iter()
                    .map(|(_, d)| match target.name {
                        Some(_) => self.library.full_name(d.module, &d.name),
                        None => d.name.to_string(),
                    })
                    .collect();
                Err(Failure::Usage(format!(
                    "there are several {what}s to choose from: {}",
                    names.join(", ")
                )))
            }
        }
    }

    /// Whether a declaration is called `name`, alone or with its module.
    fn is_named(&self, declared: &Declared, name: &str) -> bool {
        declared.name == name || self.library.full_name(declared.module, &declared.name) == name
    }

    fn not_found<'a>(
        &self,
        what: &str,
        name: &str,
        target: &Target<'_>,
        known: impl Iterator<Item = &'a Declared>,
    ) -> Failure {
        let known: Vec<&str> = known.map(|d| d.name.as_str()).collect();
        let place = match &target.path {
            Some(path) => format!(" in {}", path.display()),
            None => String::new(),
        };
        let hint = did_you_mean(name, known.iter().copied());
        let hint = if hint.is_empty() {
            format!("; `collc list {what}s` shows what there is")
        } else {
            hint
        };
        Failure::Usage(format!("there is no {what} `{name}`{place}{hint}"))
    }
}

/// A count such as `1000003`, `64Ki` or `1 M`.
pub(crate) fn parse_count(option: &str, text: &str) -> Result<u64, Failure> {
    let wrong = || {
        Failure::Usage(format!(
            "{option} takes a whole number, perhaps with k, M, G, Ki, Mi or Gi, and `{text}` is none"
        ))
    };
    let quantity = number::parse(text).map_err(|_| wrong())?;
    match quantity.dimension {
        Dimension::NONE => quantity.to_u64().ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// A size such as `200MiB`, or a plain number of bytes.
pub(crate) fn parse_bytes(option: &str, text: &str) -> Result<u64, Failure> {
    let wrong = || {
        Failure::Usage(format!(
            "{option} takes a size such as 4096, 64KiB or 200MiB, and `{text}` is none"
        ))
    };
    let quantity = number::parse(text).map_err(|_| wrong())?;
    match quantity.dimension {
        Dimension::NONE | Dimension::BYTES => quantity.to_u64().ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

/// A word of a closed vocabulary.
pub(crate) fn parse_word<T: Copy>(
    option: &str,
    text: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Failure> {
    all.iter()
        .copied()
        .find(|&w| name(w) == text)
        .ok_or_else(|| {
            let names: Vec<&str> = all.iter().map(|&w| name(w)).collect();
            Failure::Usage(format!(
                "{option} takes one of {}, not `{text}`{}",
                names.join(", "),
                did_you_mean(text, names.iter().copied())
            ))
        })
}

/// Nothing but the diagnostics of `check`, as `--deny` sees them.
pub(crate) fn denied(diagnostics: &mut [Diagnostic], deny: &[String]) -> Outcome {
    use coll_lang::diagnostics::Code;
    let mut codes_denied = Vec::new();
    let mut all = false;
    for text in deny.iter().flat_map(|d| d.split(',')) {
        match Code::find(text) {
            _ if text == "warnings" => all = true,
            Some(code) => codes_denied.push(code),
            None => {
                let known = codes::ALL.iter().map(|c| c.id()).chain(["warnings"]);
                return Err(Failure::Usage(format!(
                    "--deny takes `warnings` or a code, not `{text}`{}",
                    did_you_mean(text, known)
                )));
            }
        }
    }
    for diagnostic in diagnostics {
        if all || codes_denied.contains(&diagnostic.code) {
            diagnostic.severity = Severity::Error;
        }
    }
    Ok(())
}
