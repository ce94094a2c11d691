//! The live view: when it is drawn, from what. At most some frames a second,
//! and only when something has changed or a second has passed.

use std::collections::BTreeMap;

use host::Follower;
use host::api::{Activity, NodeSketch, RunView, Span, Timestamp};
use serde_json::{Value, json};

use super::frame::{self, Scene};
use super::screen::Screen;
use crate::console::{Console, Size};
use crate::error::CliError;
use crate::output::gist;

/// Between two frames.
const FRAME: Span = Span::from_millis(125);

/// Characters of an output or an error that a line may want.
const GIST_CHARS: usize = 1000;

#[derive(Debug)]
pub(super) struct Live {
    screen: Screen,
    /// The size for which was drawn last; used on when a terminal is too
    /// small for a moment.
    size: Size,
    hint: &'static str,
    scene: Option<Known>,
    /// Events have come that the scene does not show.
    is_stale: bool,
    looked_at: Option<Timestamp>,
}

/// What is known of the run.
#[derive(Debug)]
struct Known {
    view: RunView,
    activity: Activity,
    sketches: BTreeMap<String, NodeSketch>,
    short: String,
}

impl Live {
    pub(super) fn new(size: Size, hint: &'static str) -> Self {
        let screen = Screen::default();
        Self { screen, size, hint, scene: None, is_stale: true, looked_at: None }
    }

    /// There are new events.
    pub(super) fn changed(&mut self) {
        self.is_stale = true;
    }

    /// Draws what has changed, if it is time. `short` is what people call
    /// the run.
    pub(super) fn refresh(
        &mut self,
        follower: &mut Follower,
        console: &Console,
        short: &str,
        now: Timestamp,
    ) -> Result<(), CliError> {
        // A clock that was put back must not hold up the view.
        let is_early = |at: Timestamp| now >= at && now.since(at) < FRAME;
        if self.looked_at.is_some_and(is_early) {
            return Ok(());
        }
        let size = console.screen().unwrap_or(self.size);
        let activity = follower.activity();
        let is_new = self.is_stale
            || size != self.size
            || self.looked_at.is_none_or(|at| second(at) != second(now))
            || self.scene.as_ref().is_none_or(|known| known.activity.nodes != activity.nodes);
        self.looked_at = Some(now);
        if !is_new {
            return Ok(());
        }
        self.size = size;
        let view = if self.is_stale { Some(slim(follower.view())) } else { None };
        let known = match (self.scene.take(), view) {
            (Some(known), None) => Known { activity, ..known },
            (Some(known), Some(view)) => Known { view, activity, ..known },
            (None, view) => Known {
                view: view.unwrap_or_else(|| slim(follower.view())),
                activity,
                sketches: follower.sketches(),
                short: short.to_owned(),
            },
        };
        let scene = known.scene(&known.view, console, self.hint);
        let lines = frame::frame(&scene, now, size, console.style);
        self.scene = Some(known);
        self.is_stale = false;
        self.write(console, |screen| screen.draw(lines, size))
    }

    /// Leaves the run as it is now on the screen, for good.
    pub(super) fn leave(
        &mut self,
        console: &Console,
        view: &RunView,
        now: Timestamp,
    ) -> Result<(), CliError> {
        let size = console.screen().unwrap_or(self.size);
        let Some(known) = &self.scene else { return Ok(()) };
        let scene = known.scene(view, console, self.hint);
        let lines = frame::last(&scene, now, size.columns, console.style);
        self.write(console, |screen| Some(screen.leave(&lines, size)))
    }

    /// Others may have written to the terminal meanwhile.
    pub(super) fn come_back(&mut self) {
        self.screen.forget();
        self.is_stale = true;
    }

    /// Takes the view away, so that something else can be said.
    pub(super) fn make_way(&mut self, console: &Console) -> Result<(), CliError> {
        let size = console.screen().unwrap_or(self.size);
        self.is_stale = true;
        self.write(console, |screen| screen.clear(size))
    }

    fn write(
        &mut self,
        console: &Console,
        draw: impl FnOnce(&mut Screen) -> Option<String>,
    ) -> Result<(), CliError> {
        draw(&mut self.screen).map_or(Ok(()), |bytes| console.bytes(bytes.as_bytes()))
    }
}

impl Known {
    fn scene<'a>(&'a self, view: &'a RunView, console: &'a Console, hint: &'a str) -> Scene<'a> {
        Scene {
            view,
            activity: &self.activity,
            sketches: &self.sketches,
            short: &self.short,
            program: &console.program,
            hint,
        }
    }
}

fn second(at: Timestamp) -> i64 {
    at.millis() / 1000
}

/// The view with no more of each output than a line can show: it is drawn
/// often, and outputs can be large.
fn slim(mut view: RunView) -> RunView {
    (view.storage, view.trigger) = (Value::Null, None);
    for node in &mut view.nodes {
        if let Some(output) = &mut node.output {
            *output = match output.get("reason").and_then(Value::as_str) {
                Some(reason) if node.port.as_deref().is_some_and(|port| port != "out") => {
                    json!({ "reason": gist::first_line(reason, GIST_CHARS) })
                }
                Some(_) | None => gist::gist(output, GIST_CHARS).into(),
            };
        }
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gist_of_a_gist_is_the_same() {
        for value in [
            json!("one\ntwo\nthree"),
            json!({"exit_code": 0, "stdout": "built\n", "stderr": ""}),
            json!({"a": "\u{1b}[2J"}),
            json!({}),
        ] {
            let once = gist::gist(&value, GIST_CHARS);
            assert_eq!(gist::gist(&json!(once), GIST_CHARS), once);
        }
    }
}
