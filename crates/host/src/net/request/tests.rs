//! What a request may carry.

use super::*;

fn request(method: Method, headers: &[(&str, &str)], body: Option<&str>) -> Request {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Request {
        method,
        url: "http://a.example/".to_owned(),
        headers: headers.iter().map(owned).collect(),
        body: body.map(str::to_owned),
        timeout: Duration::from_secs(1),
        allow: Vec::new(),
        allow_private: false,
    }
}

fn code(headers: &[(&str, &str)]) -> &'static str {
    check(&request(Method::Get, headers, None)).map_or_else(|fault| fault.code(), |()| "ok")
}

#[test]
fn no_header_changes_where_the_message_ends_or_whom_it_is_for() {
    for name in ["Host", "content-length", "Transfer-Encoding", "CONNECTION", "TE", "Expect"] {
        assert_eq!(code(&[(name, "x")]), "bad_header", "{name}");
    }
    for (name, value) in [
        ("X", "a\r\nHost: b"),
        ("X", "a\nb"),
        ("X", "a\0"),
        ("X", "a\u{7f}"),
        ("X\r\nY", "a"),
        ("X Y", "a"),
        ("X:", "a"),
        ("", "a"),
        ("Ü", "a"),
    ] {
        assert_eq!(code(&[(name, value)]), "bad_header", "{name:?}: {value:?}");
    }
    assert_eq!(code(&[("X-Ok!", "tab\tand ü"), ("Authorization", "Bearer x"), ("E", "")]), "ok");
}

#[test]
fn headers_and_bodies_have_their_limits() {
    assert_eq!(code(&[("a", "b"); limits::HEADERS]), "ok");
    assert_eq!(code(&[("a", "b"); limits::HEADERS + 1]), "bad_header");
    assert_eq!(code(&[("a", &"b".repeat(limits::HEADER_BYTES - 1))]), "ok");
    assert_eq!(code(&[("a", &"b".repeat(limits::HEADER_BYTES))]), "bad_header");
    let full = "b".repeat(limits::SENT_BYTES);
    assert!(check(&request(Method::Post, &[], Some(&full))).is_ok());
    assert!(check(&request(Method::Post, &[], Some(&format!("{full}b")))).is_err());
    assert!(check(&request(Method::Get, &[], Some("b"))).is_err());
    assert!(check(&request(Method::Head, &[], Some(""))).is_err());
    assert!(check(&request(Method::Delete, &[], Some("b"))).is_ok());
}

#[test]
fn only_headers_for_everybody_go_to_another_origin() {
    let headers = [("Accept", "a"), ("Authorization", "b"), ("cookie", "c"), ("X-Api-Key", "d")];
    let kept = for_everybody(&request(Method::Get, &headers, None).headers);
    assert_eq!(kept, [("Accept".to_owned(), "a".to_owned())]);
}

#[test]
fn methods_have_their_names() {
    for method in Method::ALL {
        assert_eq!(Method::named(method.name()), Some(method));
    }
    assert_eq!(Method::named("get"), None);
    assert_eq!(Method::named("CONNECT"), None);
}
