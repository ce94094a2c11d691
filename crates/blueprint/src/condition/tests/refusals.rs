//! What is wrong with a condition, where, and what to write instead.

use super::*;

fn told(sources: &[&str]) -> String {
    let mut out = String::new();
    for source in sources {
        let error = Condition::parse(source).expect_err(source);
        let at = &source[error.range.clone()];
        let fix = error.suggestion.as_deref().unwrap_or("-");
        out += &format!("{source:?}\n    at {:?} {at:?}: {error}\n    fix: {fix}\n", error.range);
    }
    out
}

#[test]
fn a_word_that_cannot_stand_where_it_stands_is_told() {
    let told = told(&[
        "",
        "  ",
        "{{trigger.output.ok}}",
        "trigger.output.a && {{trigger.output.ok}}",
        "trigger.output.a = 1",
        "trigger.output.a === 1",
        "trigger.output.a !== 1",
        "trigger.output.a <> 1",
        "trigger.output.a ==",
        "== 1",
        "trigger.output.a & trigger.output.b",
        "trigger.output.a | trigger.output.b",
        "trigger.output.a | default(1) == 1",
        "trigger.output.a and trigger.output.b",
        "(trigger.output.a) or (trigger.output.b)",
        "not trigger.output.a",
        "trigger.output.a not in ['x']",
        "trigger.output.a contains 'x'",
        "trigger.output.a 'x'",
        "trigger.output.a == 1 trigger.output.b",
        "(trigger.output.a == 1",
        "size([1, 2) > 1",
        "trigger.output.a == 1)",
        "trigger.output.a, trigger.output.b",
        "trigger.output.a ? true",
        "{'a' 1} == trigger.output.a",
        "trigger.output.a == ; ",
        "trigger.output.a == “x”",
        "é",
        "trigger.output.a == 'open",
        "trigger.output.a == 'a\\q'",
        "trigger.output.a.matches('\\d+')",
        "trigger.output.a == 01",
        "trigger.output.a == .5",
        "trigger.output.a == 0x10",
        "trigger.output.a == 9223372036854775808",
        "trigger.output.a + 18446744073709551616u > 1u",
        "trigger.output.a == b'x'",
        "if trigger.output.a",
        "trigger.output.a == True",
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn a_name_that_means_nothing_is_told() {
    let told = told(&[
        "done",
        "ndoes.a.output",
        "trigger.output.state == done",
        "trigger.output.ok && storge.ready",
        "trigger.ouput.ok && true",
        "nodes.a.outptu.ok && true",
        "nodes.a && true",
        "nodes['a'].title == 'x'",
        "nodes[0].output && true",
        "run.id.x == 'a' && true",
        "trigger.output.a.0 && true",
        "trigger.output.count-1 > 3 && true",
        "trigger.output.my-flag && true",
        "storage-x && true",
        "trigger.output.l.exists(one, on.ok)",
        "sise(trigger.output.l) > 1",
        "len(trigger.output.l) > 1",
        "trigger.output.l.count() > 1",
        "trigger.output.l.any(x, x > 1)",
        "timestamp(trigger.output.at) > now()",
        "trigger.output.at.getHours() > 8",
        "contains(trigger.output.a, 'x')",
        "trigger.output.a.string() == '1'",
        "exists(trigger.output.l, x, x > 1)",
        "trigger.output.l.exists(x)",
        "trigger.output.l.exists('x', true)",
        "trigger.output.l.exists(item, item.ok)",
        "trigger.output.l.all(x, x.all(y, y.all(z, z)))",
        "has(1)",
        "has(size(trigger.output))",
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn what_no_data_could_decide_is_told() {
    let told = told(&[
        "true",
        "'a'",
        "1 + 1",
        "-3",
        "size(trigger.output.l)",
        "trigger.output.name + 'x'",
        "[trigger.output.a]",
        "trigger.output.l.map(x, x.ok)",
        "trigger.output.ok ? 'yes' : 'no'",
        "trigger.output.a && 1",
        "'a' || trigger.output.a",
        "!'a'",
        "!trigger.output.a + 1",
        "1 ? true : false",
        "trigger.output.l.all(x, x + 1)",
        "trigger.output.a < null",
        "trigger.output.a > [1]",
        "'a' < 1",
        "1 < trigger.output.a < 3",
        "trigger.output.a + true > 1",
        "trigger.output.a - 'x' > 1",
        "'a' + 1 == 'a1'",
        "-'a' == 'b'",
        "'a' in 'abc'",
        "size(3) > 1",
        "trigger.output.a.contains(3)",
        "'abc'.size.x == 1",
        "'abc'.exists(x, true)",
        "{1: 2} == trigger.output.a",
        "1 / 0 == 1",
        "9223372036854775807 + 1 > 0 && true",
        "int('x') == 1 && true",
        "[1][3] == 1",
        "1 + 1.5 > 2.0 || false",
        "trigger.output.a.matches(trigger.output.b)",
        "trigger.output.a.matches('(')",
        "trigger.output.a.matches('(?=x)')",
    ]);
    insta::assert_snapshot!(told);
}

#[test]
fn a_condition_has_limits() {
    let chain = |count: usize| vec!["trigger.output.a"; count].join(" + ") + " > 1";
    let cases = [
        format!("trigger.output.a == '{}'", "x".repeat(4096)),
        format!("{}trigger.output.a{}", "(".repeat(40), ")".repeat(40)),
        format!("{}trigger.output.a", "!".repeat(40)),
        format!("trigger.output.a == {}1{}", "[".repeat(40), "]".repeat(40)),
        chain(30),
        vec!["1"; 600].join("||"),
        format!("trigger.output.a.matches('{}')", "a".repeat(300)),
    ];
    let mut out = String::new();
    for source in &cases {
        let error = Condition::parse(source).unwrap_err();
        let fix = error.suggestion.unwrap_or_default();
        out += &format!("{:?}: {} ({fix})\n", error.range, error.message);
    }
    insta::assert_snapshot!(out);
    assert!(Condition::parse(&chain(20)).is_ok());
    let many = vec!["trigger.output.a == 1"; 100].join(" && ");
    assert!(Condition::parse(&many).is_ok());
}
