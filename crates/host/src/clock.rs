//! The real clock and the real source of chance: the only two places that
//! ask the operating system for either.

use std::time::{SystemTime, UNIX_EPOCH};

use durable::entropy::Entropy;
use durable::{Clock, Timestamp};

#[derive(Debug, Clone, Copy)]
pub(crate) struct RealClock;

#[derive(Debug, Clone, Copy)]
pub(crate) struct RealEntropy;

impl Clock for RealClock {
    #[expect(clippy::disallowed_methods, reason = "this is the real clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl Entropy for RealEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let mut filled = 0;
        while filled < bytes.len() {
            let flags = rustix::rand::GetRandomFlags::empty();
            match rustix::rand::getrandom(&mut bytes[filled..], flags) {
                Ok(count) => filled += count,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => panic!("the kernel gives no random bytes: {error}"),
            }
        }
    }
}
