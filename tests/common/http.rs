//! Server processes of tests, and the little HTTP needed to query them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::tables::Tables;

/// Running `solver serve`, killed at the end of the test.
pub struct Served {
    pub child: Child,
    pub address: String,
    _stdout: BufReader<ChildStdout>,
}

/// Response to a request.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Got {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Checks that the request was refused with a JSON error and a hint; returns the error.
    pub fn refused(&self, status: u16, what: &str) -> String {
        assert_eq!(self.status, status, "{what}: {} {}", self.head, self.text());
        assert!(self.head.contains("application/json"), "{what}: {}", self.head);
        let json = self.json();
        assert!(json.as_object().unwrap().contains_key("hint"), "{what}: {json}");
        json["error"].as_str().unwrap_or_else(|| panic!("{what}: {json}")).to_string()
    }
}

impl Served {
    pub fn new(tables: &Tables, args: &[&str]) -> Served {
        Served::speaking(tables, args, Stdio::piped())
    }

    /// Starts a server with the given stderr.
    pub fn speaking(tables: &Tables, args: &[&str], stderr: Stdio) -> Served {
        let words = [&["serve"], args].concat();
        let mut command = tables.hearing(&words);
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let address = address.unwrap_or_else(|| panic!("no address: {line:?}")).to_string();
        Served { child, address, _stdout: stdout }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes and reads until the server closes the connection.
    pub fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may have answered and closed the connection before it has read everything.
        let _ = stream.write_all(bytes);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        all
    }

    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Got {
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: {}\r\n", self.address);
        request += "connection: close\r\n";
        headers.iter().for_each(|header| request += &format!("{header}\r\n"));
        if method == "POST" {
            request += &format!("content-length: {}\r\n", body.len());
        }
        let all = self.raw(&[format!("{request}\r\n").as_bytes(), body].concat());
        parted(&all)
    }

    pub fn get(&self, path: &str) -> Got {
        self.send("GET", path, &[], b"")
    }

    /// Requests the answer about a position.
    pub fn position(&self, table: &str, position: &str) -> Got {
        self.get(&format!("/api/v1/{table}?position={}", escaped(position)))
    }

    pub fn post(&self, path: &str, body: &[u8]) -> Got {
        self.send("POST", path, &[], body)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Splits a response into head and body.
pub fn parted(all: &[u8]) -> Got {
    let end = all.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no head: {}", String::from_utf8_lossy(all)));
    let head = String::from_utf8(all[..end].to_vec()).unwrap().to_lowercase();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Got { status, head, body: all[end + 4..].to_vec() }
}

/// Percent-encodes a text as a part of a URL.
pub fn escaped(text: &str) -> String {
    let byte = |b: &u8| match b.is_ascii_alphanumeric() {
        true => char::from(*b).to_string(),
        false => format!("%{b:02x}"),
    };
    text.as_bytes().iter().map(byte).collect()
}
