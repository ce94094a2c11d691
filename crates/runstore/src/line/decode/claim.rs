//! What an attempt says of itself, and what was found out about that.

use std::sync::Arc;

use engine::{Fact, Proof};

use super::{Fault, RawLine, digest, need, node, port, text, word};

pub(super) fn fact(raw: &mut RawLine<'_>) -> Result<Fact, Fault> {
    let node = node(raw)?;
    let attempt = need(raw.attempt, "attempt")?;
    Ok(match raw.kind.0.as_ref() {
        "session_reported" => {
            Fact::SessionReported { node, attempt, session: text(&raw.session, "session")? }
        }
        "node_claimed" => {
            let output = Arc::new(raw.output.take().unwrap_or_default());
            Fact::NodeClaimed { node, attempt, output, port: port(raw)? }
        }
        "proof_started" => Fact::ProofStarted {
            node,
            attempt,
            proof: need(raw.asking, "asking")?,
            generation: need(raw.generation, "generation")?,
            work: need(digest(raw.work.as_ref(), "work")?, "work")?,
            deadline: raw.deadline.as_ref().map(|deadline| deadline.0),
        },
        "proof_interrupted" => Fact::ProofInterrupted { node, attempt },
        "proof_reported" => Fact::ProofReported {
            node,
            attempt,
            proof: word(&raw.proof, "proof", Proof::from_word)?,
            checks: need(raw.checks.take(), "checks")?,
        },
        _ => return Err(Fault::Kind),
    })
}
