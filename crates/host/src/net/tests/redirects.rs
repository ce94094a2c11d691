//! Redirects: how far they are followed, what goes along, and that each of
//! them is checked anew.

use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn to(location: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
}

const DONE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone";

/// All names lead to this machine.
fn client() -> Client {
    Client { lookup: Lookup::new(|_| Ok(vec![LOCAL])), roots: RootCerts::WebPki }
}

/// A request to names that are allowed by themselves, without consent.
fn named(url: &str, allow: &[String]) -> Request {
    Request { allow: allow.to_vec(), allow_private: false, ..ask(Method::Get, url) }
}

#[test]
fn those_who_only_look_are_led_on() {
    for method in [Method::Get, Method::Head] {
        for status in ["301", "302", "303", "307", "308"] {
            let first = to("../b?c").replace("302", status);
            let server = Server::saying([&first, &DONE.replace("4\r\n\r\ndone", "0\r\n\r\n")]);
            let response = answer(&Request { method, ..get(&server, "/a/b/") }).unwrap();
            assert_eq!((response.status, response.redirects), (200, 1));
            assert!(response.url.ends_with("/a/b?c"), "{}", response.url);
            assert!(server.asked()[1].starts_with(&format!("{} /a/b?c ", method.name())));
        }
    }
}

#[test]
fn others_get_the_redirect_itself() {
    for method in [Method::Post, Method::Put, Method::Patch, Method::Delete] {
        let server = Server::saying([&to("/elsewhere"), DONE]);
        let response = answer(&Request { method, ..get(&server, "/") }).unwrap();
        assert_eq!((response.status, response.redirects), (302, 0));
        assert_eq!(response.headers["location"], "/elsewhere");
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn what_leads_nowhere_is_an_answer() {
    let nowhere = "HTTP/1.1 302 Found\r\nContent-Length: 4\r\n\r\nhere";
    let choices = "HTTP/1.1 300 Multiple Choices\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n";
    let server = Server::saying([nowhere, choices]);
    assert_eq!(answer(&get(&server, "/")).unwrap().body, b"here");
    assert_eq!(answer(&get(&server, "/")).unwrap().status, 300);
}

#[test]
fn five_redirects_are_followed_and_the_sixth_is_not() {
    let on = to("/on");
    let server = Server::saying([&on[..], &on, &on, &on, &on, DONE]);
    assert_eq!(answer(&get(&server, "/")).unwrap().redirects, 5);
    let server = Server::saying([&on[..], &on, &on, &on, &on, &on, DONE]);
    assert_eq!(failed(answer(&get(&server, "/"))), ("too_many_redirects", true));
    assert_eq!(server.asked().len(), 6);
}

#[test]
fn secrets_stay_with_the_origin_they_were_meant_for() {
    let back = Server::saying([DONE]);
    let other = Server::saying([&to(&format!("http://a.test:{}/back", back.port))]);
    let first = Server::saying([&to("/same"), &to(&format!("http://b.test:{}/", other.port))]);
    let allow = [("a.test", first.port), ("b.test", other.port), ("a.test", back.port)];
    let allow = allow.map(|(host, port)| format!("{host}:{port}"));
    let mut request = named(&format!("http://a.test:{}/", first.port), &allow);
    let headers =
        [("Authorization", "Bearer s3"), ("Cookie", "s3"), ("X-Key", "s3"), ("Accept", "a/b")];
    request.headers = headers.map(|(k, v)| (k.to_owned(), v.to_owned())).to_vec();
    let response = client().fetch(&request, &Stop::new().unwrap()).unwrap();
    assert_eq!((&response.body[..], response.redirects), (&b"done"[..], 3));
    let secrets = |asked: &str| asked.matches("s3").count();
    assert_eq!(first.asked().iter().map(|asked| secrets(asked)).collect::<Vec<_>>(), [3, 3]);
    for asked in [&other.asked()[0], &back.asked()[0]] {
        assert_eq!(secrets(asked), 0, "{asked}");
        assert!(asked.to_lowercase().contains("accept: a/b\r\n"), "{asked}");
    }
}

#[test]
fn a_redirect_inherits_no_consent_and_reaches_nothing_inside() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let port = inside.local_addr().unwrap().port();
    for host in ["2130706433", "[::ffff:7f00:1]", "b.test", "169.254.169.254", "0.0.0.0"] {
        let server = Server::saying([&to(&format!("http://{host}:{port}/"))]);
        let request = ask(Method::Get, &format!("http://a.test:{}/", server.port));
        let result = client().fetch(&request, &Stop::new().unwrap());
        assert_eq!(failed(result), ("address_refused", true), "{host}");
    }
    assert_eq!(inside.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn a_redirect_that_no_request_can_follow_is_refused() {
    let server = Server::saying([
        &to("file:///etc/passwd"),
        &to("http://u:p@a.test/"),
        "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n",
    ]);
    for code in ["bad_redirect", "bad_redirect", "bad_response"] {
        assert_eq!(failed(answer(&get(&server, "/"))), (code, true));
    }
}

#[test]
fn a_name_is_looked_up_once_for_each_connection_and_its_later_answers_do_not_count() {
    static LOOKUPS: AtomicUsize = AtomicUsize::new(0);
    let flips = |_: &str| match LOOKUPS.fetch_add(1, Ordering::SeqCst) {
        0 => Ok(vec![LOCAL]),
        _ => Ok(vec!["10.0.0.1".parse().unwrap()]),
    };
    let client = Client { lookup: Lookup::new(flips), roots: RootCerts::WebPki };
    let server = Server::saying([DONE, DONE]);
    let port = server.port;
    let allow = ["127.0.0.1/32".to_owned(), format!("x.test:{port}"), format!("a.test:{port}")];
    let mut request = named(&format!("http://a.test:{port}/"), &allow);
    let stop = Stop::new().unwrap();
    assert_eq!(client.fetch(&request, &stop).unwrap().body, b"done");
    assert_eq!(LOOKUPS.load(Ordering::SeqCst), 1);
    request.allow.pop();
    assert_eq!(failed(client.fetch(&request, &stop)), ("address_refused", false));
    assert_eq!(server.asked().len(), 1);
}
