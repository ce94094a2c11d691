//! Everything that ends without an answer, and whether it is known that
//! nothing was sent.

use std::io::{self, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::channel;

use super::*;

/// A request that no one consented to.
fn plain(url: &str) -> Request {
    Request { allow_private: false, ..ask(Method::Get, url) }
}

fn with(lookup: impl Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync + 'static) -> Client {
    Client { lookup: Lookup::new(lookup), roots: RootCerts::WebPki }
}

#[test]
fn an_address_inside_is_refused_before_anything_connects_to_it() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let port = inside.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "0.0.0.0", "2130706433", "0x7f.1", "[::ffff:7f00:1]"] {
        let result = answer(&plain(&format!("http://{host}:{port}/")));
        assert_eq!(failed(result), ("address_refused", false), "{host}");
    }
    let error = answer(&plain("http://[::ffff:169.254.169.254]/")).unwrap_err().to_string();
    assert_eq!(
        error,
        "[::ffff:169.254.169.254] leads to 169.254.169.254, which is refused: \
         a cloud's metadata service"
    );
    assert_eq!(inside.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn one_address_inside_spoils_a_name() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let port = inside.local_addr().unwrap().port();
    let client = with(|_| Ok(vec![LOCAL, "169.254.169.254".parse().unwrap()]));
    let request = ask(Method::Get, &format!("http://a.test:{port}/"));
    let error = client.fetch(&request, &Stop::new().unwrap()).unwrap_err();
    assert_eq!((error.fault.code(), error.sent), ("address_refused", false));
    assert!(error.to_string().starts_with("a.test leads to 169.254.169.254,"), "{error}");
    assert_eq!(inside.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn a_lookup_that_fails_or_finds_nothing_refuses() {
    let stop = Stop::new().unwrap();
    let client = with(|_| Err(io::Error::other("no such name")));
    assert_eq!(failed(client.fetch(&plain("http://a.test/"), &stop)), ("dns", false));
    assert_eq!(failed(with(|_| Ok(vec![])).fetch(&plain("http://a.test/"), &stop)), ("dns", false));
    let many = with(|_| Ok(vec!["1.1.1.1".parse().unwrap(); limits::ADDRESSES + 1]));
    assert_eq!(failed(many.fetch(&plain("http://a.test/"), &stop)), ("dns", false));
}

#[test]
fn what_cannot_be_sent_is_refused_at_once() {
    let bad_header = vec![("X".to_owned(), "a\r\nHost: b".to_owned())];
    for (request, code) in [
        (plain("gopher://a/"), "bad_url"),
        (plain("http://u@a/"), "bad_url"),
        (Request { headers: bad_header, ..plain("http://a/") }, "bad_header"),
        (Request { body: Some(String::new()), ..plain("http://a/") }, "bad_body"),
        (Request { allow: vec!["?".to_owned()], ..plain("http://a/") }, "bad_allow"),
    ] {
        assert_eq!(failed(answer(&request)), (code, false));
    }
}

#[test]
fn a_closed_port_is_no_connection() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/");
    assert_eq!(failed(answer(&ask(Method::Post, &url))), ("connect", false));
}

#[test]
fn a_server_without_encryption_has_no_secure_connection() {
    let server = Server::saying(["HTTP/1.1 400 Bad Request\r\n\r\n"]);
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("https://{host}:{}/", server.port);
        assert_eq!(failed(answer(&ask(Method::Post, &url))), ("tls", false));
    }
}

#[test]
fn a_cut_answer_is_no_answer() {
    let server = Server::saying([
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nshort",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n",
    ]);
    for _ in 0..5 {
        assert_eq!(failed(answer(&get(&server, "/"))), ("connection_lost", true));
    }
}

#[test]
fn an_answer_that_breaks_the_rules_is_no_answer() {
    let server = Server::saying([
        "SSH-2.0-OpenSSH_9.7\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ]);
    for _ in 0..6 {
        assert_eq!(failed(answer(&get(&server, "/"))), ("bad_response", true));
    }
}

#[test]
fn answers_have_their_limits() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(limits::ANSWER_HEADER_BYTES));
    let server = Server::saying([&long]);
    assert_eq!(failed(answer(&get(&server, "/"))), ("too_large", true));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(200));
    assert_eq!(failed(answer(&get(&Server::saying([&many]), "/"))), ("bad_response", true));
    let hints = Server::acting(|stream| {
        let hint = b"HTTP/1.1 102 Processing\r\n\r\n".repeat(1000);
        while stream.write_all(&hint).is_ok() {}
    });
    assert_eq!(failed(answer(&get(&hints, "/"))), ("too_large", true));
    let endless = Server::acting(|stream| {
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n"));
        while stream.write_all(&[b'x'; 64 << 10]).is_ok() {}
    });
    assert_eq!(failed(answer(&get(&endless, "/"))), ("too_large", true));
}

#[test]
fn the_deadline_covers_silence_and_slowness_alike() {
    for said in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nx"] {
        let server = Server::acting(move |stream| {
            stream.write_all(said.as_bytes()).unwrap();
            hold(stream);
        });
        let request = Request { timeout: Duration::from_millis(400), ..get(&server, "/") };
        assert_eq!(failed(answer(&request)), ("timeout", true), "{said:?}");
    }
}

#[test]
fn the_deadline_covers_all_redirects_together() {
    let server = Server::acting(|stream| {
        // Each answer takes its time, and all of them together too much.
        stream.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
        hold(stream);
        let redirect = b"HTTP/1.1 302 Found\r\nLocation: /on\r\nContent-Length: 0\r\n\r\n";
        drop(stream.write_all(redirect));
    });
    let request = Request { timeout: Duration::from_millis(500), ..get(&server, "/") };
    assert_eq!(failed(answer(&request)), ("timeout", true));
}

#[test]
fn a_server_that_reads_nothing_cannot_hold_a_large_body() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/", server.local_addr().unwrap().port());
    let body = Some("x".repeat(limits::SENT_BYTES));
    let request = Request { body, timeout: Duration::from_millis(400), ..ask(Method::Post, &url) };
    assert_eq!(failed(answer(&request)), ("timeout", true));
}

#[test]
fn a_lookup_that_hangs_is_left_behind() {
    let (_held, never) = channel::<()>();
    let never = std::sync::Mutex::new(never);
    let client = with(move |_| {
        assert!(never.lock().unwrap().recv().is_err());
        Ok(vec![LOCAL])
    });
    let stop = Stop::new().unwrap();
    let request = Request { timeout: Duration::from_millis(400), ..plain("http://a.test/") };
    assert_eq!(failed(client.fetch(&request, &stop)), ("timeout", false));
    stop.request();
    let request = Request { timeout: Duration::from_secs(3600), ..request };
    assert_eq!(failed(client.fetch(&request, &stop)), ("stopped", false));
}

#[test]
fn a_stop_is_heard_while_an_answer_is_awaited_and_while_it_is_read() {
    for said in ["", "HTTP/1.1 200 OK\r\n\r\nsome of it"] {
        let stop = Stop::new().unwrap();
        let theirs = stop.clone();
        let server = Server::acting(move |stream| {
            stream.write_all(said.as_bytes()).unwrap();
            theirs.request();
            hold(stream);
        });
        let request = Request { timeout: Duration::from_secs(3600), ..get(&server, "/") };
        assert_eq!(failed(fetch(&request, &stop)), ("stopped", true), "{said:?}");
    }
}
