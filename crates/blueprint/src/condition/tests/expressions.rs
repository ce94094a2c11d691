//! Expressions by example.

use super::*;

const DATA: &str = r#"{
    "ok": true, "no": false, "nothing": null, "count": 3, "price": 2.5, "name": "wardian",
    "big": 18446744073709551615, "huge": 123456789012345678901234567890, "text": "h\u00e9llo",
    "numbers": [1, 2, 3], "mixed": [1, "a", null], "empty": [],
    "files": [{"path": "a.rs", "size": 10}, {"path": "b.md", "size": 200, "new": true}],
    "labels": {"bug": 1, "ui": 2}, "a key": {"x-y": 1}, "my-flag": true, "list": [[1, 2], [3]]
}"#;

fn holds(source: &str) -> Result<bool, TemplateError> {
    let condition = Condition::parse(source).unwrap_or_else(|error| panic!("{source}: {error:?}"));
    condition.eval(&Trigger(serde_json::from_str(DATA).unwrap()))
}

/// `@` stands for `trigger.output.` here.
fn long(source: &str) -> String {
    source.replace('@', "trigger.output.")
}

#[test]
fn an_expression_means_what_it_means_in_cel() {
    let cases = [
        ("@ok && @count > 2", true),
        ("@no || @count == 3", true),
        ("!@no && !(@count < 3)", true),
        ("@no && @missing", false),
        ("@ok || @missing", true),
        ("@missing || @ok", true),
        ("@count + 1 == 4 && @count * 2 - 1 == 5", true),
        ("@count % 2 == 1 && 7 / 2 == 3", true),
        ("1 + 2 * 3 == 7 && (1 + 2) * 3 == 9", true),
        ("-@count == -3 && @ok", true),
        ("@price * 2.0 == 5.0 || false", true),
        ("double(@count) * @price == 7.5", true),
        ("int(@price) == 2 && string(@count) == '3'", true),
        ("bool('true') && uint(@count) == 3u", true),
        ("@count in [1, 2, 3]", true),
        ("!('x' in @mixed) && null in @mixed", true),
        ("'bug' in @labels && !('docs' in @labels)", true),
        ("@ok ? @count == 3 : @no", true),
        ("(@no ? 1 : @count) == 3", true),
        ("has(@name) && !has(@missing)", true),
        ("has(@missing.deeper) || has(@nothing)", true),
        ("has(@count.deeper)", false),
        ("size(@numbers) == 3 && @name.size() == 7", true),
        ("size(@text) == 5 && size(@labels) == 2", true),
        ("@name.startsWith('war') && @name.endsWith('an')", true),
        ("@name.contains('rd') && @name.matches(r'^w\\w+n$')", true),
        ("matches(@name, 'x+')", false),
        ("@name + '!' == 'wardian!' && true", true),
        ("@numbers + [4] == [1, 2, 3, 4]", true),
        ("@numbers == [1.0, 2, 3u] && true", true),
        ("{'ui': 2, 'bug': 1.0} == @labels", true),
        ("@numbers[0] == 1 && @numbers[size(@numbers) - 1] == 3", true),
        ("@labels['bug'] == 1 && @labels.ui == 2", true),
        ("trigger.output[\"a key\"][\"x-y\"] == 1 && true", true),
        ("trigger.output['a key']['x-y'] == 1", true),
        ("@files.exists(x, x.size > 100)", true),
        ("@files.all(x, x.path.endsWith('.rs') || has(x.new))", true),
        ("@files.exists_one(x, x.path == 'a.rs')", true),
        ("@files.filter(x, x.size < 100).size() == 1", true),
        ("@files.map(x, x.size) == [10, 200]", true),
        ("@files.map(x, x.size > 50, x.path) == ['b.md']", true),
        ("@labels.exists(key, @labels[key] == 2)", true),
        ("@labels.map(key, key) == ['bug', 'ui']", true),
        ("@list.exists(x, x.all(y, y > 2))", true),
        ("@empty.all(x, x > 1) && !@empty.exists(x, x > 1)", true),
        ("@big == 18446744073709551615u && true", true),
        ("@huge > @big && @huge == @huge", true),
        ("@huge in [@huge]", true),
        ("'a' < 'b' && false < true", true),
        ("@ok // why\n && @count > 2", true),
        ("(@name)", true),
        ("(((@empty)))", true),
        ("nodes[\"a-b\"].output.x == 1 || @ok", true),
    ];
    for (source, expected) in cases {
        let source = long(source);
        assert_eq!(holds(&source), Ok(expected), "{source}");
    }
}

#[test]
fn strings_hold_the_escapes_of_cel() {
    let cases = [
        (r#"'it\'s' == "it's""#, true),
        (r#""\"" == '"' && '\\' == r'\'"#, true),
        (r"'\x41\u00e9\U0001F600\101' == 'Aé😀A' && true", true),
        (r"'\a\b\f\n\r\t\v\?\`'.size() == 9", true),
        (r"r'\n'.size() == 2", true),
    ];
    for (source, expected) in cases {
        assert_eq!(holds(source), Ok(expected), "{source}");
    }
}

#[test]
fn what_has_no_answer_is_told_without_values() {
    let sources = [
        "@count || @no",
        "@ok && @name",
        "!@count",
        "@count ? @ok : @no",
        "@ok ? @count : @name",
        "@missing && @ok",
        "@name == 'x' || @missing > 1",
        "nodes.later.output.x > 1 && @ok",
        "nodes[\"a-b\"].output.x > 1 && @ok",
        "@count + @price > 1.0",
        "@count * 1.5 > 1.0",
        "@count + @name == 'x'",
        "@count - @name == 1",
        "@numbers + @labels == [1]",
        "@name > 3 && @ok",
        "@huge + 1 > 2",
        "@huge * 2 > 2",
        "@big * 2u > 2u",
        "@count / 0 == 1",
        "@count % (@count - 3) == 1",
        "int(@name) == 1",
        "size(@count) == 1",
        "@count.contains('x')",
        "@numbers.matches('x')",
        "@numbers[7] == 1 && @ok",
        "@numbers[@count] == 1",
        "@labels[@name] == 1",
        "@name[@count] == 1",
        "@count in @name",
        "@count.exists(x, x)",
        "@files.all(x, x.new)",
        "@files.exists(x, x.size.y > 1)",
        "@numbers.map(x, x + 'a') == ['x']",
        "-@name == 1",
        "{@name: 1, 'wardian': 2} == @labels",
    ];
    let mut told = String::new();
    for source in sources {
        match holds(&long(source)) {
            Ok(answer) => panic!("{source}: {answer}"),
            Err(error) => told += &format!("{error}\n"),
        }
    }
    for value in ["h\u{e9}llo", "2.5", "123456789012345678901234567890"] {
        assert!(!told.contains(value), "{value} is told");
    }
    insta::assert_snapshot!(told);
}

#[test]
fn paths_of_an_expression_have_their_ranges_and_say_whether_they_must_lead_somewhere() {
    let source = " has(nodes.a-b.output.x) && nodes.a-b.output.x > 1 ||\n  \
         nodes[\"c d\"].output . y[0]['k'].size() > 1 && trigger.output.é != storage.list[item_index].z";
    let source = source.replace(".é", "[\"é\"]");
    let condition = Condition::parse(&source).unwrap();
    let told: Vec<String> = condition
        .needs()
        .map(|(path, must)| format!("{:?} is {path}, must: {must}", &source[path.range.clone()]))
        .collect();
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(condition.paths().count(), told.len());
}

#[test]
fn a_dash_is_part_of_a_name_alone_and_in_one_comparison_only() {
    assert_eq!(holds("trigger.output.my-flag"), Ok(true));
    assert_eq!(holds("trigger.output.my-flag == true"), Ok(true));
    assert!(Condition::parse("trigger.output.my-flag && true").is_err());
    assert_eq!(holds("trigger.output[\"my-flag\"] && true"), Ok(true));
    assert_eq!(holds("trigger.output.count - 1 == 2"), Ok(true));
}

#[test]
fn an_answer_that_takes_too_long_is_not_waited_for() {
    let items: Vec<u32> = (0..2000).collect();
    let scope = Trigger(json!({ "l": items, "s": "x".repeat(1000) }));
    let eval = |source: &str| Condition::parse(&long(source)).unwrap().eval(&scope);
    assert_eq!(eval("@l.exists(x, x == 1999) && @l.all(x, x < 2000)"), Ok(true));
    let sources = [
        "@l.all(x, @l.exists(y, x == y))",
        "@l.all(x, x in @l)",
        "@l.map(x, @l) == []",
        "@l.map(x, @l == @l) == [true]",
        "[@s].map(x, x + x + x + x + x + x + x + x + x + x).map(x, x + x + x + x + x + x + x + x + x + x)\
         .map(x, x + x + x + x + x + x + x + x + x + x).map(x, x + x + x + x + x + x + x + x + x + x)\
         .map(x, x + x + x + x + x + x + x + x + x + x).map(x, x + x + x + x + x + x + x + x + x + x)\
         .map(x, x + x + x + x + x + x + x + x + x + x) == []",
        "[@s].map(x, [x, x, x, x, x, x, x, x, x, x]).map(x, [x, x, x, x, x, x, x, x, x, x])\
         .map(x, [x, x, x, x, x, x, x, x, x, x]).map(x, [x, x, x, x, x, x, x, x, x, x])\
         .map(x, [x, x, x, x, x, x, x, x, x, x]).map(x, [x, x, x, x, x, x, x, x, x, x])\
         .map(x, [x, x, x, x, x, x, x, x, x, x]) == []",
        "@l.exists(x, string(x).matches('^[0-9]+$') && false)",
    ];
    for source in sources {
        let error = eval(source).unwrap_err().to_string();
        assert!(error.contains("it takes more than 1000000 steps"), "{source}: {error}");
    }
}

#[test]
fn the_examples_of_the_guide_are_conditions() {
    let guide = include_str!("../../../../../docs/guide.md");
    let section = guide.split("### Conditions").nth(1).expect("the guide tells of conditions");
    let examples = section.split("```").nth(1).expect("the section has examples");
    let examples: Vec<&str> = examples.trim().lines().collect();
    assert_eq!(examples.len(), 5);
    for example in examples {
        Condition::parse(example).unwrap_or_else(|error| panic!("{example}: {error:?}"));
    }
}
