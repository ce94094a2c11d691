//! The `http` node: one request to a web address, and what its answer means
//! for the run.

use std::time::Duration;

use engine::{Class, Effect, HttpTask, NodeError, Outcome, Work};
use providers::Stop;
use serde_json::{Map, Value, json};

use crate::net::{self, NetError, Response};
use crate::perform::Stage;

/// How long a request may take when the node says nothing.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Text of an answer that is kept in the run's data; more goes into a file.
const KEPT_BYTES: usize = 256 << 10;

pub(crate) fn perform_http(stage: &Stage, work: &Work, task: &HttpTask, stop: &Stop) -> Outcome {
    let request = net::Request {
        method: method(task.method),
        url: task.url.clone(),
        headers: task.headers.clone(),
        body: task.body.clone(),
        timeout: work.timeout.map_or(TIMEOUT, durable::Span::duration),
        allow: Vec::new(),
        allow_private: task.allow_private,
    };
    match net::fetch(&request, stop) {
        Ok(response) => answered(stage, work, task, response),
        Err(_) if stop.requested() => Outcome::Stopped,
        Err(fault) => unanswered(work, task, &fault),
    }
}

fn method(method: blueprint::Method) -> net::Method {
    match method {
        blueprint::Method::Get => net::Method::Get,
        blueprint::Method::Head => net::Method::Head,
        blueprint::Method::Post => net::Method::Post,
        blueprint::Method::Put => net::Method::Put,
        blueprint::Method::Patch => net::Method::Patch,
        blueprint::Method::Delete => net::Method::Delete,
    }
}

/// Any answer below 400 is the output; the others are failures that say so.
fn answered(stage: &Stage, work: &Work, task: &HttpTask, response: Response) -> Outcome {
    let status = response.status;
    let retry_after = response.headers.get("retry-after").and_then(|text| text.trim().parse().ok());
    let (site, reason) = (&work.key.node, reason(status));
    let host = net::shown_host(&response.url);
    let output = match output(stage, response) {
        Ok(output) => output,
        Err(why) => {
            let message = format!("{site}: the answer cannot be kept: {why}");
            return Outcome::Lost { message };
        }
    };
    if status < 400 {
        return Outcome::Output(output);
    }
    Outcome::Failed(NodeError {
        class: class(status),
        code: format!("http_{status}"),
        message: format!("{site}: {host} answered {status}{reason}"),
        // Who only looks has changed nothing, whatever the answer.
        effect: if task.method.is_safe() { Effect::None } else { Effect::Done },
        output: Some(output),
        retry_after: retry_after.map(durable::Span::from_secs),
    })
}

fn unanswered(work: &Work, task: &HttpTask, fault: &NetError) -> Outcome {
    let message = format!("{}: {fault}", work.key.node);
    let effect = match fault.effect() {
        Effect::Uncertain if task.method.is_safe() => Effect::None,
        effect @ (Effect::None | Effect::Uncertain | Effect::Done) => effect,
    };
    if effect == Effect::Uncertain {
        return Outcome::Lost { message };
    }
    let error = NodeError::before_effect(fault.fault.class(), fault.fault.code(), message);
    Outcome::Failed(NodeError { effect, ..error })
}

/// The status classes of RFC 9110, as far as a run treats them differently.
fn class(status: u16) -> Class {
    match status {
        401 | 403 | 407 => Class::Auth,
        408 | 425 | 429 | 500..=599 => Class::Transient,
        _ => Class::Bug,
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        400 => " (bad request)",
        401 => " (not authenticated)",
        403 => " (forbidden)",
        404 => " (not found)",
        408 => " (request timeout)",
        409 => " (conflict)",
        422 => " (unprocessable)",
        429 => " (too many requests)",
        500 => " (server error)",
        502 => " (bad gateway)",
        503 => " (unavailable)",
        504 => " (gateway timeout)",
        _ => "",
    }
}

/// `{status, headers, body}`: JSON as a value, other text as a text, and what
/// is neither, or large, as the path of a file.
fn output(stage: &Stage, response: Response) -> Result<Value, String> {
    let headers: Map<String, Value> =
        response.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let mut output = Map::new();
    output.insert("status".to_owned(), json!(response.status));
    output.insert("headers".to_owned(), Value::Object(headers));
    let is_json = response.headers.get("content-type").is_some_and(|of| is_json(of));
    let text = String::from_utf8(response.body).map_err(std::string::FromUtf8Error::into_bytes);
    match text {
        Ok(text) if text.len() <= KEPT_BYTES => {
            let value = if is_json { serde_json::from_str(&text).ok() } else { None };
            output.insert("body".to_owned(), value.unwrap_or(Value::String(text)));
        }
        Ok(text) => drop(output.insert("body_artifact".to_owned(), kept(stage, text.as_bytes())?)),
        Err(bytes) => drop(output.insert("body_artifact".to_owned(), kept(stage, &bytes)?)),
    }
    Ok(Value::Object(output))
}

fn kept(stage: &Stage, bytes: &[u8]) -> Result<Value, String> {
    let put = runstore::artifacts::put(&*stage.disk, &stage.place, bytes, &*stage.entropy);
    let digest = put.map_err(|fault| fault.to_string())?;
    Ok(json!(stage.place.artifact(digest).display().to_string()))
}

fn is_json(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || kind.ends_with("+json")
}
