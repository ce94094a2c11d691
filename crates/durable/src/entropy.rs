//! Chance as a value. Only the outermost crate owns a real source.

use std::fmt;

/// A source of unpredictable bytes. The real one lives in `host`, the seeded
/// one in `sim`.
pub trait Entropy: Send + Sync + fmt::Debug {
    fn fill(&self, bytes: &mut [u8]);

    /// Eight fresh hexadecimal digits.
    fn hex8(&self) -> String {
        let mut bytes = [0u8; 4];
        self.fill(&mut bytes);
        format!("{:08x}", u32::from_be_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed(u8);

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    #[test]
    fn eight_digits_are_eight_digits_whatever_the_bytes() {
        assert_eq!(Fixed(0).hex8(), "00000000");
        assert_eq!(Fixed(0x0a).hex8(), "0a0a0a0a");
        assert_eq!(Fixed(0xff).hex8(), "ffffffff");
    }
}
