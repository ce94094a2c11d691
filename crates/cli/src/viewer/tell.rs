//! What a viewer tells, and to whom: people at a screen see the run as it
//! is, people elsewhere read an event a line, programs that wait for a run get
//! one document at its end, programs that watch get an event a line.

use host::api::{Event, Fact, NodeView, RunStatus, RunView, json};
use host::{Follower, Host, Outcome};

use super::line::Layout;
use super::live::Live;
use super::{Role, Visit, ending};
use crate::console::Console;
use crate::error::CliError;

#[derive(Debug)]
pub(super) struct Teller<'a> {
    host: &'a Host,
    console: &'a Console,
    visit: &'a Visit<'a>,
    listener: Listener,
    names: Option<Names>,
    /// Known once there are events.
    layout: Option<Layout>,
    /// The last thing told was how to answer at a gate.
    told_how: bool,
    /// What is drawn, where there is a screen.
    live: Option<Live>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listener {
    People,
    Waiting,
    Watching,
}

/// What people and programs call the run.
#[derive(Debug, Clone)]
struct Names {
    short: String,
    blueprint: String,
    folder: std::path::PathBuf,
}

impl<'a> Teller<'a> {
    pub(super) fn new(host: &'a Host, console: &'a Console, visit: &'a Visit<'a>) -> Self {
        let listener = match (console.json, visit.role) {
            (false, _) => Listener::People,
            (true, Role::Starter { .. }) => Listener::Waiting,
            (true, Role::Onlooker) => Listener::Watching,
        };
        let is_drawn = listener == Listener::People && visit.from.is_none();
        let size = if is_drawn { console.screen() } else { None };
        let live = size.map(|size| Live::new(size, hint(visit.role, console.is_interactive)));
        Self { host, console, visit, listener, names: None, layout: None, told_how: false, live }
    }

    /// Nothing is told before the run rests.
    pub(super) fn only_tells_the_end(&self) -> bool {
        self.listener == Listener::Waiting
    }

    /// Draws the run as it is now, where it is drawn.
    pub(super) fn refresh(&mut self, follower: &mut Follower) -> Result<(), CliError> {
        if self.live.is_none() || follower.seq() == 0 {
            return Ok(());
        }
        let (console, now) = (self.console, self.host.now());
        let short = self.names()?.short.clone();
        self.live.as_mut().map_or(Ok(()), |live| live.refresh(follower, console, &short, now))
    }

    /// Others may have written where the run was drawn: that is drawn anew,
    /// below.
    pub(super) fn come_back(&mut self) {
        if let Some(live) = &mut self.live {
            live.come_back();
        }
    }

    /// Something else is to be said: what is drawn makes way until the next
    /// refresh.
    pub(super) fn make_way(&mut self) -> Result<(), CliError> {
        let console = self.console;
        self.live.as_mut().map_or(Ok(()), |live| live.make_way(console))
    }

    /// New events; the follower knows the run after the last of them.
    pub(super) fn events(&mut self, events: &[Event], follower: &Follower) -> Result<(), CliError> {
        if let Some(live) = &mut self.live {
            live.changed();
            return Ok(());
        }
        let from = self.visit.from.unwrap_or(0);
        let wanted = events.iter().filter(|event| event.seq.0 >= from);
        match self.listener {
            Listener::Waiting => Ok(()),
            Listener::Watching => self.console.document_lines(wanted.map(json::event_line)),
            Listener::People => {
                let (style, width) = (self.console.style, self.console.width);
                let began = follower.began();
                let layout = || Layout::of(follower.ids(), began, style, width);
                let layout = self.layout.get_or_insert_with(layout).clone();
                let mut lines = String::new();
                for event in wanted {
                    if layout.event(event, &mut lines) {
                        self.told_how = self.gate(event, follower, &layout, &mut lines)?;
                    }
                }
                self.console.bytes(lines.as_bytes())
            }
        }
    }

    /// The run as far as [`Self::end`] says something of it.
    pub(super) fn last_view(&self, follower: &Follower) -> RunView {
        let outline = follower.outline();
        let is_plain = match self.listener {
            Listener::People => self.live.is_none() && outline.status == RunStatus::Completed,
            Listener::Watching | Listener::Waiting => true,
        };
        if is_plain { outline } else { follower.view() }
    }

    /// Where the run rests.
    pub(super) fn end(&mut self, view: &RunView) -> Result<(), CliError> {
        let Names { short, blueprint, folder } = self.names()?.clone();
        match self.listener {
            Listener::Watching => Ok(()),
            Listener::Waiting => {
                let outcome = Outcome::of(view);
                let outcome = json::outcome(self.visit.run, &blueprint, &folder, &outcome);
                self.console.document(&outcome)
            }
            Listener::People => {
                let style = self.console.style;
                if let Some(live) = &mut self.live {
                    live.leave(self.console, view, self.host.now())?;
                }
                self.console.line("")?;
                self.console.line(&ending::summary(view, &short, style))?;
                if self.told_how {
                    return Ok(());
                }
                let program = &self.console.program;
                let mut commands = ending::next_steps(view, &short, program);
                if view.status.is_over()
                    && let Some(count) = self.host.changed_files(self.visit.run).filter(|n| *n > 0)
                {
                    let noun = if count == 1 { "file" } else { "files" };
                    self.console.line(&format!("{count} {noun} changed in its worktree"))?;
                    commands.extend(
                        ["changes", "apply"].map(|verb| format!("{program} run {verb} {short}")),
                    );
                }
                if view.status == RunStatus::Failed {
                    commands.insert(0, format!("{program} run show {short}"));
                }
                ending::steps(&commands, style).iter().try_for_each(|step| self.console.line(step))
            }
        }
    }

    /// The viewer leaves a run that goes on.
    pub(super) fn left(&mut self, view: &RunView) -> Result<(), CliError> {
        if self.listener != Listener::People {
            return self.end(view);
        }
        let short = self.names()?.short.clone();
        let from = match &mut self.live {
            Some(live) => {
                live.leave(self.console, view, self.host.now())?;
                String::new()
            }
            None => format!(" --from {}", view.next_seq),
        };
        let talk = |text: &str| self.console.talk(text);
        let call = |verb: &str| format!("{} run {verb} {short}", self.console.program);
        talk(match self.visit.role {
            Role::Starter { .. } => {
                "\ndetached; the run goes on. Ctrl-C again within 2 s cancels it."
            }
            Role::Onlooker => "\nthe run goes on",
        });
        talk(&format!("  watch    {}{from}", call("watch")));
        talk(&format!("  approve  {}", call("approve")));
        talk(&format!("  cancel   {}", call("cancel")));
        Ok(())
    }

    /// Below a gate that waits stands how to answer.
    fn gate(
        &mut self,
        event: &Event,
        follower: &Follower,
        layout: &Layout,
        lines: &mut String,
    ) -> Result<bool, CliError> {
        let Fact::AwaitingApproval { node, .. } = &event.fact else { return Ok(false) };
        let id = node.to_string();
        let still = |view: &&NodeView| view.id == id && view.is_open_gate();
        let view = follower.view();
        let Some(node) = view.nodes.iter().find(still) else { return Ok(false) };
        let short = self.names()?.short.clone();
        let commands = ending::decide(node, &short, &self.console.program);
        let indent = " ".repeat(layout.indent().saturating_sub(2));
        for step in ending::steps(&commands, self.console.style) {
            lines.push_str(&format!("{indent}{step}\n"));
        }
        Ok(true)
    }

    /// Known once the run has its first event.
    fn names(&mut self) -> Result<&Names, CliError> {
        if self.names.is_none() {
            let names = self.host.names(self.visit.run)?;
            let (short, blueprint) = (names.short_id, names.blueprint_id);
            self.names = Some(Names { short, blueprint, folder: names.run_dir });
        }
        Ok(self.names.as_ref().expect("they were just set"))
    }
}

/// What Ctrl-C means to the run.
fn hint(role: Role, is_interactive: bool) -> &'static str {
    match role {
        Role::Onlooker => "Ctrl-C leaves; the run goes on",
        Role::Starter { foreground: false } if is_interactive => "Ctrl-C leaves; the run goes on",
        Role::Starter { .. } => "Ctrl-C cancels the run",
    }
}
