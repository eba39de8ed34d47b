//! How tests are printed.

use super::layout::Layout;
use crate::syntax::ast::{Expectation, ExpectationKind, Test, TestOption, TestStmt, TestStmtKind};

impl Layout<'_> {
    pub(super) fn test(&mut self, it: &Test) {
        self.keyword("test");
        self.verbatim(it.name.span);
        self.space();
        self.test_body(&it.body);
    }

    fn test_body(&mut self, body: &[TestStmt]) {
        self.block(|l| {
            for stmt in body {
                l.test_stmt(stmt);
                l.paragraph();
            }
        });
    }

    fn test_stmt(&mut self, stmt: &TestStmt) {
        match &stmt.kind {
            TestStmtKind::For {
                var,
                set,
                body,
                braces,
            } => {
                self.keyword("for");
                self.range(var, set);
                if *braces {
                    self.space();
                    return self.test_body(body);
                }
                self.nest(|l| {
                    for stmt in body {
                        l.new_line();
                        l.test_stmt(stmt);
                    }
                });
            }
            TestStmtKind::Run {
                target,
                request,
                expect,
            } => self.group(|l| {
                l.keyword("run");
                l.path(target);
                l.request(request, Some(expect));
            }),
            TestStmtKind::Select {
                op,
                request,
                expect,
            } => self.group(|l| {
                l.keyword("select");
                l.name(op);
                l.request(request, Some(expect));
            }),
            TestStmtKind::Prove {
                template,
                range,
                expect,
            } => self.group(|l| {
                l.keyword("prove");
                l.template_ref(template);
                if let Some((var, set)) = range {
                    l.space();
                    l.keyword("for");
                    l.range(var, set);
                }
                l.request(&[], expect.as_ref());
            }),
            TestStmtKind::Check {
                items,
                errors,
                expect,
            } => {
                self.keyword("check");
                self.block(|l| {
                    for item in items {
                        l.item(item);
                        l.paragraph();
                    }
                });
                self.space();
                self.expectation(expect);
                self.close(";");
                if !errors.is_empty() {
                    self.fail();
                }
            }
            TestStmtKind::Error => self.fail(),
        }
    }

    fn request(&mut self, request: &[TestOption], expect: Option<&Expectation>) {
        self.nest(|l| {
            for option in request {
                l.line();
                l.test_option(option);
            }
            if let Some(expect) = expect {
                l.line();
                l.expectation(expect);
            }
            l.close(";");
        });
    }

    fn test_option(&mut self, option: &TestOption) {
        match option {
            TestOption::On(cluster) => {
                self.keyword("on");
                self.expr(cluster);
            }
            TestOption::Using(engines) => {
                self.keyword("using");
                self.names(engines);
            }
            TestOption::Only(span) => self.verbatim(*span),
            TestOption::Word(key, word) => {
                self.name(key);
                self.space();
                self.name(word);
            }
            TestOption::Value(key, value) => {
                self.name(key);
                self.space();
                self.expr(value);
            }
        }
    }

    fn expectation(&mut self, expect: &Expectation) {
        self.keyword("expect");
        match &expect.kind {
            ExpectationKind::Exact => self.token("exact"),
            ExpectationKind::Within(distance) => {
                self.keyword("within");
                self.expr(distance);
            }
            ExpectationKind::Refused(code) => {
                self.token("refused");
                if let Some(code) = code {
                    self.space();
                    self.name(code);
                }
            }
            ExpectationKind::ErrorCode(code) => {
                self.keyword("error");
                self.name(code);
            }
            ExpectationKind::Name(path) => self.path(path),
        }
    }
}
