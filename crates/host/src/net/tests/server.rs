//! A server of a few lines that says exactly what it is told to, byte by
//! byte, and remembers what it was asked.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

pub(super) struct Server {
    pub port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers the n-th connection with the n-th text, then closes.
    pub(super) fn saying<const N: usize>(answers: [&str; N]) -> Self {
        Self::sending(answers.map(|answer| answer.as_bytes().to_vec()))
    }

    pub(super) fn sending<const N: usize>(answers: [Vec<u8>; N]) -> Self {
        let mut answers = answers.into_iter();
        Self::acting(move |stream| {
            if let Some(answer) = answers.next() {
                // A client that leaves early is what some tests are about.
                drop(stream.write_all(&answer));
            }
        })
    }

    /// Does as told with each connection once its request was read.
    pub(super) fn acting(mut act: impl FnMut(&mut TcpStream) + Send + 'static) -> Self {
        Self::accepting(move |mut stream, asked| {
            if let Some(request) = read_request(&mut stream) {
                asked.lock().unwrap().push(request);
                act(&mut stream);
            }
        })
    }

    /// Hands over each connection as it comes, and where to note its request.
    pub(super) fn accepting(
        mut serve: impl FnMut(TcpStream, &Mutex<Vec<String>>) + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&asked);
        thread::spawn(move || {
            listener.incoming().for_each(|stream| serve(stream.unwrap(), &theirs));
        });
        Self { port, asked }
    }

    /// The requests so far, as they came.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Holds the connection until the other side closes it.
pub(super) fn hold(stream: &mut TcpStream) {
    drop(io::copy(stream, &mut io::sink()));
}

/// One request, if a whole one comes.
pub(super) fn read_request(stream: &mut impl Read) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut text = String::new();
    while !text.ends_with("\r\n\r\n") {
        if reader.read_line(&mut text).ok()? == 0 {
            return None;
        }
    }
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(text + &String::from_utf8_lossy(&body))
}
