//! The client against a server that answers byte for byte as told.

mod encrypted;
mod redirects;
mod server;
mod trouble;

use std::net::IpAddr;
use std::time::Duration;

use super::*;
use body::tests::packed;
use server::{Server, hold};

pub(in crate::net) const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// A request to this machine that its author consents to.
fn ask(method: Method, url: &str) -> Request {
    Request {
        method,
        url: url.to_owned(),
        headers: Vec::new(),
        body: None,
        timeout: Duration::from_secs(60),
        allow: Vec::new(),
        allow_private: true,
    }
}

fn get(server: &Server, path: &str) -> Request {
    ask(Method::Get, &format!("http://127.0.0.1:{}{path}", server.port))
}

fn answer(request: &Request) -> Result<Response, NetError> {
    fetch(request, &Stop::new().unwrap())
}

/// How it went wrong, and whether anything had been sent.
fn failed(result: Result<Response, NetError>) -> (&'static str, bool) {
    let error = result.unwrap_err();
    (error.fault.code(), error.sent)
}

#[test]
fn an_answer_comes_with_its_status_headers_and_body() {
    let server = Server::saying(["HTTP/1.1 418 I'm a teapot\r\nX-A: 1\r\nx-a: 2\r\n\
        Set-Cookie: s=1\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nshort and stout"]);
    let mut request = get(&server, "/pot?milk=no#handle");
    request.headers = vec![("X-Sent".to_owned(), "ü".to_owned())];
    let response = answer(&request).unwrap();
    assert_eq!((response.status, &response.body[..]), (418, &b"short"[..]));
    let headers: Vec<_> = response.headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
    assert_eq!(headers, ["content-length: 5", "content-type: text/plain", "x-a: 1, 2"]);
    assert_eq!(response.url, format!("http://127.0.0.1:{}/pot?milk=no", server.port));
    let asked = server.asked().remove(0);
    assert!(asked.starts_with("GET /pot?milk=no HTTP/1.1\r\n"), "{asked}");
    let mut lines: Vec<_> = asked.trim_end().lines().skip(1).map(str::to_lowercase).collect();
    lines.sort();
    let host = format!("host: 127.0.0.1:{}", server.port);
    let agent = concat!("user-agent: wardian/", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        lines,
        ["accept-encoding: gzip", "accept: */*", "connection: close", &host, agent, "x-sent: ü"]
    );
}

#[test]
fn a_body_is_sent_byte_for_byte() {
    for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
        let server = Server::saying(["HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"]);
        let text = "{\"é\":\r\n 1}\0";
        let url = format!("http://localhost:{}/", server.port);
        let request = Request { body: Some(text.to_owned()), ..ask(method, &url) };
        assert_eq!(answer(&request).unwrap().status, 201);
        let asked = server.asked().remove(0);
        assert!(asked.starts_with(&format!("{} / HTTP/1.1\r\n", method.name())), "{asked}");
        assert!(asked.to_lowercase().contains("\r\ncontent-length: 12\r\n"), "{asked}");
        assert!(asked.ends_with(&format!("\r\n\r\n{text}")), "{asked}");
    }
}

#[test]
fn a_large_body_arrives_whole() {
    let server = Server::saying(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]);
    let text = "0123456789abcdef".repeat(limits::SENT_BYTES / 16);
    let url = format!("http://127.0.0.1:{}/", server.port);
    let request = Request { body: Some(text.clone()), ..ask(Method::Post, &url) };
    assert_eq!(answer(&request).unwrap().status, 200);
    assert!(server.asked()[0].ends_with(&text));
}

#[test]
fn without_a_body_its_length_is_nothing() {
    let none = "HTTP/1.1 204 No Content\r\n\r\n";
    let server = Server::saying([none, none]);
    let url = format!("http://127.0.0.1:{}/", server.port);
    assert_eq!(answer(&ask(Method::Post, &url)).unwrap().status, 204);
    assert_eq!(answer(&ask(Method::Delete, &url)).unwrap().body, b"");
    assert!(server.asked()[0].to_lowercase().contains("content-length: 0\r\n"));
}

#[test]
fn answers_without_a_body_end_with_their_headers() {
    let length = "HTTP/1.1 200 OK\r\nContent-Length: 999\r\nContent-Encoding: gzip\r\n\r\n";
    let held = "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\n\r\n";
    let mut answers = [length, held].into_iter();
    let server = Server::acting(move |stream| {
        std::io::Write::write_all(stream, answers.next().unwrap().as_bytes()).unwrap();
        hold(stream);
    });
    let head = answer(&Request { method: Method::Head, ..get(&server, "/") }).unwrap();
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.headers["content-length"], "999");
    let unchanged = answer(&get(&server, "/")).unwrap();
    assert_eq!((unchanged.status, unchanged.body.len()), (304, 0));
}

#[test]
fn chunks_are_put_together_and_early_hints_are_passed_over() {
    let server = Server::saying(["HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n\
        HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4;x=y\r\nWiki\r\n6\r\npedia \r\n\
        C\r\nin \r\nchunks.\r\n0\r\nTrailer: t\r\n\r\n"]);
    assert_eq!(answer(&get(&server, "/")).unwrap().body, b"Wikipedia in \r\nchunks.");
}

#[test]
fn an_answer_without_a_length_ends_with_the_connection() {
    let server = Server::saying(["HTTP/1.0 200 OK\r\n\r\nold but whole"]);
    assert_eq!(answer(&get(&server, "/")).unwrap().body, b"old but whole");
}

fn encoded(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[test]
fn gzip_is_unpacked_once_and_the_headers_tell_of_what_is_there() {
    let server = Server::sending([
        encoded("Content-Encoding: gzip\r\n", &packed(b"hello")),
        encoded("Content-Encoding: gzip\r\n", &packed(&packed(b"hello"))),
        encoded("", b"\xe9 stays a byte"),
    ]);
    let response = answer(&get(&server, "/")).unwrap();
    assert_eq!((&response.body[..], response.headers.len()), (&b"hello"[..], 0));
    assert_eq!(answer(&get(&server, "/")).unwrap().body, packed(b"hello"));
    assert_eq!(answer(&get(&server, "/")).unwrap().body, b"\xe9 stays a byte");
}

#[test]
fn bombs_and_other_packings_are_refused() {
    let gzip = "Content-Encoding: gzip\r\n";
    let server = Server::sending([
        encoded(gzip, &packed(&vec![0; 16 << 20])),
        encoded("Content-Encoding: br\r\n", b"x"),
        encoded("Content-Encoding: gzip, gzip\r\n", &packed(&packed(b"x"))),
        encoded(gzip, b"not packed at all"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n".to_vec(),
    ]);
    for code in ["too_large", "bad_encoding", "bad_encoding", "bad_response", "bad_encoding"] {
        assert_eq!(failed(answer(&get(&server, "/"))), (code, true));
    }
}
