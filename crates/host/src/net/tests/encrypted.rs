//! Encrypted connections, with a certificate of our own whose key everybody
//! has: it proves nothing to anybody but these tests.

use std::io::Write as _;
use std::net::TcpStream;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use ureq::tls::Certificate;

use super::*;

/// For `a.test` and `127.0.0.1`, from 2020 to 2999; signed by itself.
const CERTIFICATE: &[u8] = include_bytes!("tls/certificate.der");
const KEY: &[u8] = include_bytes!("tls/key.der");

type Encrypted = StreamOwned<ServerConnection, TcpStream>;

fn server(act: impl Fn(&mut Encrypted) + Send + 'static) -> Server {
    let provider = rustls::crypto::ring::default_provider();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    let config = Arc::new(config);
    Server::accepting(move |stream, asked| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        if let Some(request) = server::read_request(&mut stream) {
            asked.lock().unwrap().push(request);
            act(&mut stream);
        }
    })
}

/// All names lead to this machine, and our own certificate is trusted.
fn client() -> Client {
    let root = Certificate::from_der(CERTIFICATE);
    Client { lookup: Lookup::new(|_| Ok(vec![LOCAL])), roots: RootCerts::new_with_certs(&[root]) }
}

fn ask_for(host: &str, server: &Server) -> Request {
    ask(Method::Get, &format!("https://{host}:{}/", server.port))
}

fn closing(stream: &mut Encrypted, answer: &str) {
    stream.write_all(answer.as_bytes()).unwrap();
    stream.conn.send_close_notify();
    stream.flush().unwrap();
}

#[test]
fn a_certificate_must_be_for_the_host_and_from_a_known_root() {
    let server = server(|stream| closing(stream, "HTTP/1.1 200 OK\r\n\r\nsecret"));
    let stop = Stop::new().unwrap();
    for host in ["a.test", "127.0.0.1", "0x7f.1"] {
        let response = client().fetch(&ask_for(host, &server), &stop).unwrap();
        assert_eq!(response.body, b"secret", "{host}");
    }
    assert_eq!(server.asked().len(), 3);
    let other = client().fetch(&ask_for("b.test", &server), &stop).unwrap_err();
    assert_eq!((other.fault.code(), other.sent), ("tls", false));
    assert!(other.to_string().contains("certificate not valid for name"), "{other}");
    let bundled = Client { roots: RootCerts::WebPki, ..client() };
    let unknown = bundled.fetch(&ask_for("a.test", &server), &stop).unwrap_err();
    assert_eq!((unknown.fault.code(), unknown.sent), ("tls", false));
    assert!(unknown.to_string().contains("UnknownIssuer"), "{unknown}");
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn what_is_not_closed_properly_was_cut() {
    let server = server(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhalf of").unwrap();
        stream.flush().unwrap();
    });
    let stop = Stop::new().unwrap();
    let result = client().fetch(&ask_for("a.test", &server), &stop);
    assert_eq!(failed(result), ("connection_lost", true));
}

#[test]
fn a_redirect_never_leaves_encryption() {
    let plain = Server::saying(["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]);
    let location = format!("http://a.test:{}/", plain.port);
    let server = server(move |stream| {
        let head = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n";
        closing(stream, &format!("{head}Location: {location}\r\n\r\n"));
    });
    let result = client().fetch(&ask_for("a.test", &server), &Stop::new().unwrap());
    assert_eq!(failed(result), ("bad_redirect", true));
    assert!(plain.asked().is_empty());
}

#[test]
fn the_deadline_and_a_stop_reach_into_the_handshake() {
    let silent = Server::accepting(|mut stream, _| hold(&mut stream));
    let stop = Stop::new().unwrap();
    let request = ask_for("a.test", &silent);
    let soon = Request { timeout: Duration::from_millis(400), ..request.clone() };
    assert_eq!(failed(client().fetch(&soon, &stop)), ("timeout", false));
    stop.request();
    assert_eq!(failed(client().fetch(&request, &stop)), ("stopped", false));
}
