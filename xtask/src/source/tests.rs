//! What the checks see of a file.

use super::*;

fn code(text: &str) -> String {
    Source::new("a.rs", text).code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn comments_and_literals_are_no_code() {
    for (text, expected) in [
        ("a // b\nc", "a c"),
        ("a /* b /* c */ d */ e", "a e"),
        (r#"a "b \" // c" d"#, "a d"),
        (r###"a r#"b " c"# d"###, "a d"),
        (r#"a b"b" c"c" br"d" e"#, "a e"),
        ("a 'b' '\\'' b'c' '\"' d", "a d"),
        ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
        ("r#type bar\"s\" b", "r#type bar b"),
        ("'…' é", "é"),
        ("a \"never closed", "a"),
        ("a /* never closed", "a"),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn offsets_and_lines_stay() {
    let text = "//! …\nlet a = \"é\n\";\nb();\n";
    let source = Source::new("a.rs", text);
    assert_eq!(source.code.len(), text.len());
    let b = source.code.find("b()").expect("it is code");
    assert_eq!(source.line(b), 4);
    assert_eq!(&text[b..=b], "b");
}

#[test]
fn test_items_are_found_and_left_out_of_the_body() {
    let text = "\
mod a;
#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = \"x.rs\"]
mod b { fn c() { d[1] } }
fn e() {}
#[cfg(all(test, unix))]
const F: [u8; 2] = [1, 2];
#[cfg(not(test))]
fn g() {}
";
    let source = Source::new("a.rs", text);
    assert_eq!(source.body(), "mod a;\n\n\nfn e() {}\n\n#[cfg(not(test))]\nfn g() {}\n");
    assert!(source.in_test(text.find("d[1]").unwrap()));
    assert!(!source.in_test(text.find("fn e").unwrap()));
    assert_eq!(Source::new("a.rs", "//! x\n#![cfg(test)]\nfn a() {}").body(), "//! x\n");
}

#[test]
fn functions_are_found_with_their_bodies() {
    let text = "fn a<T: Fn(u8)>(b: [u8; { 3 }]) -> u8 { c() }\ntrait D { fn e(&self); fn f() {} }\ntype G = fn(u8) -> u8;\n";
    let source = Source::new("a.rs", text);
    let functions = source.functions();
    let names: Vec<&str> = functions.iter().map(|function| function.name).collect();
    assert_eq!(names, ["a", "f"]);
    assert_eq!(&text[functions[0].range.clone()], text.lines().next().unwrap());
    assert_eq!(&text[functions[1].range.clone()], "fn f() {}");
}

#[test]
fn attributes_are_read_without_their_strings() {
    let source = Source::new("a.rs", "#![a(b)]\n#[expect(c, reason = \"] d\")]\n#[e[f]]\n# g");
    let texts: Vec<&str> = source.attributes.iter().map(|a| a.text.as_str()).collect();
    assert_eq!(texts.len(), 3);
    assert_eq!(texts[0], "a(b)");
    assert!(texts[1].starts_with("expect(c, reason =") && !texts[1].contains('d'));
    assert!(source.attributes[0].inner && !source.attributes[1].inner);
}

#[test]
fn the_first_paragraph_ends_at_an_empty_line() {
    let source = Source::new("a.rs", "//! One\n//! two. Pure.\n//!\n//! Three.\n");
    assert_eq!(source.first_paragraph(), "One two. Pure.");
    assert_eq!(Source::new("a.rs", "use a;\n").first_paragraph(), "");
}
