//! Test items.

use super::{Builder, Parts};
use crate::syntax::ast::{Expectation, ExpectationKind, Test, TestOption, TestStmt, TestStmtKind};
use coll_grammar::Rule;
use pest::iterators::Pair;

impl Builder<'_> {
    pub(super) fn test_item(&mut self, parts: &mut Parts<'_>) -> Option<Test> {
        let name = self.next(parts)?;
        Some(Test {
            name: self.string(&name),
            body: self.next_test_body(parts)?,
        })
    }

    fn next_test_body(&mut self, parts: &mut Parts<'_>) -> Option<Vec<TestStmt>> {
        let pair = self.take(parts, Rule::test_body)?;
        self.list(pair, Self::test_stmt)
    }

    fn test_stmt(&mut self, pair: Pair<'_, Rule>) -> Option<TestStmt> {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::for_test => self.inside(pair, Self::for_test)?,
            Rule::run_test => self.inside(pair, |b, parts| {
                Some(TestStmtKind::Run {
                    target: b.next_path(parts)?,
                    request: b.request(parts)?,
                    expect: b.next_expectation(parts)?,
                })
            })?,
            Rule::select_test => self.inside(pair, |b, parts| {
                Some(TestStmtKind::Select {
                    op: b.next_name(parts)?,
                    request: b.request(parts)?,
                    expect: b.next_expectation(parts)?,
                })
            })?,
            Rule::prove_test => self.inside(pair, |b, parts| {
                Some(TestStmtKind::Prove {
                    template: b.next_template_ref(parts)?,
                    range: b.take_range(parts, Rule::prove_range),
                    expect: match b.peek(parts) {
                        Some(Rule::expectation) => Some(b.next_expectation(parts)?),
                        _ => None,
                    },
                })
            })?,
            Rule::check_test => self.inside(pair, Self::check_test)?,
            _ => {
                self.broken(Rule::one_test_stmt, &pair);
                TestStmtKind::Error
            }
        };
        Some(TestStmt { span, kind })
    }

    fn for_test(&mut self, parts: &mut Parts<'_>) -> Option<TestStmtKind> {
        let var = self.next_name(parts)?;
        let set = self.next_expr(parts)?;
        let braces = self.peek(parts) == Some(Rule::test_body);
        let body = if braces {
            self.next_test_body(parts)?
        } else {
            let pair = self.next(parts)?;
            vec![self.test_stmt(pair)?]
        };
        Some(TestStmtKind::For {
            var,
            set,
            body,
            braces,
        })
    }

    fn check_test(&mut self, parts: &mut Parts<'_>) -> Option<TestStmtKind> {
        let (mut items, mut errors) = (Vec::new(), Vec::new());
        loop {
            match self.peek(parts)? {
                Rule::item => {
                    let pair = self.next(parts)?;
                    items.push(self.item(pair)?);
                }
                Rule::error_stmt => {
                    let pair = self.next(parts)?;
                    errors.push(self.broken(Rule::one_check_item, &pair));
                }
                _ => break,
            }
        }
        Some(TestStmtKind::Check {
            items,
            errors,
            expect: self.next_expectation(parts)?,
        })
    }

    fn request(&mut self, parts: &mut Parts<'_>) -> Option<Vec<TestOption>> {
        let mut request = Vec::new();
        while let Some(rule) = self.peek(parts)
            && rule != Rule::expectation
        {
            let pair = self.next(parts)?;
            request.push(self.test_option(pair)?);
        }
        Some(request)
    }

    fn test_option(&mut self, pair: Pair<'_, Rule>) -> Option<TestOption> {
        let span = self.span(&pair);
        let rule = pair.as_rule();
        self.inside(pair, |b, parts| match rule {
            Rule::opt_on => Some(TestOption::On(b.next_expr(parts)?)),
            Rule::opt_using => Some(TestOption::Using(b.names(parts)?)),
            Rule::only => Some(TestOption::Only(span)),
            Rule::opt_word => Some(TestOption::Word(b.next_name(parts)?, b.next_name(parts)?)),
            _ => Some(TestOption::Value(b.next_name(parts)?, b.next_expr(parts)?)),
        })
    }

    fn next_expectation(&mut self, parts: &mut Parts<'_>) -> Option<Expectation> {
        let pair = self.take(parts, Rule::expectation)?;
        let span = self.span(&pair);
        let kind = self.inside(pair, |b, parts| {
            let pair = b.next(parts)?;
            b.expectation(pair)
        })?;
        Some(Expectation { span, kind })
    }

    fn expectation(&mut self, pair: Pair<'_, Rule>) -> Option<ExpectationKind> {
        match pair.as_rule() {
            Rule::exact => Some(ExpectationKind::Exact),
            Rule::within => self.inside(pair, |b, parts| {
                Some(ExpectationKind::Within(b.next_expr(parts)?))
            }),
            Rule::refused => self.inside(pair, |b, parts| {
                b.take(parts, Rule::refused_word)?;
                Some(ExpectationKind::Refused(b.take_name(parts, Rule::code)))
            }),
            Rule::expect_error => self.inside(pair, |b, parts| {
                Some(ExpectationKind::ErrorCode(b.next_name(parts)?))
            }),
            _ => Some(ExpectationKind::Name(self.path(&pair))),
        }
    }
}
