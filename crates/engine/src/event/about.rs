//! What a fact is about: its kind, its node, the signal that it answers.

use super::Fact;
use crate::id::SignalId;
use crate::site::Site;

impl Fact {
    /// The kind as logs, scripts and people write it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::RunStarted(_) => "run_started",
            Self::RunAdopted { .. } => "run_adopted",
            Self::RunResumed { .. } => "run_resumed",
            Self::NodeStarted { .. } => "node_started",
            Self::NodeCompleted { .. } => "node_completed",
            Self::DecisionCompleted { .. } => "decision_completed",
            Self::BranchTaken { .. } => "branch_taken",
            Self::StateUpdated { .. } => "state_updated",
            Self::Notification { .. } => "notification",
            Self::NodeSkipped { .. } => "node_skipped",
            Self::NodeFailed { .. } => "node_failed",
            Self::AttemptFailed { .. } => "attempt_failed",
            Self::AttemptUnknown { .. } => "attempt_unknown",
            Self::NodeCancelled { .. } => "node_cancelled",
            Self::LoopIteration { .. } => "loop_iteration",
            Self::LoopCompleted { .. } => "loop_completed",
            Self::ForEachStarted { .. } => "for_each_started",
            Self::ItemCompleted { .. } => "item_completed",
            Self::ItemFailed { .. } => "item_failed",
            Self::ForEachCompleted { .. } => "for_each_completed",
            Self::WaitStarted { .. } => "wait_started",
            Self::UsageReported { .. } => "usage_reported",
            Self::SessionReported { .. } => "session_reported",
            Self::NodeClaimed { .. } => "node_claimed",
            Self::ProofStarted { .. } => "proof_started",
            Self::ProofInterrupted { .. } => "proof_interrupted",
            Self::ProofReported { .. } => "proof_reported",
            Self::BudgetNotice { .. } => "budget_notice",
            Self::BudgetReached { .. } => "budget_reached",
            Self::DeadlinePassed { .. } => "deadline_passed",
            Self::AwaitingApproval { .. } => "awaiting_approval",
            Self::ApprovalGranted { .. } => "approval_granted",
            Self::ApprovalRejected { .. } => "approval_rejected",
            Self::CancelRequested { .. } => "cancel_requested",
            Self::SignalRefused { .. } => "signal_refused",
            Self::RunCompleted => "run_completed",
            Self::RunFailed { .. } => "run_failed",
        }
    }

    /// The node that the fact is about, if it is about one.
    pub fn node(&self) -> Option<&Site> {
        match self {
            Self::NodeStarted { node, .. }
            | Self::NodeCompleted { node, .. }
            | Self::DecisionCompleted { node, .. }
            | Self::BranchTaken { node, .. }
            | Self::StateUpdated { node, .. }
            | Self::Notification { node, .. }
            | Self::NodeSkipped { node }
            | Self::NodeFailed { node, .. }
            | Self::AttemptFailed { node, .. }
            | Self::AttemptUnknown { node, .. }
            | Self::NodeCancelled { node, .. }
            | Self::LoopIteration { node, .. }
            | Self::LoopCompleted { node }
            | Self::ForEachStarted { node, .. }
            | Self::ItemCompleted { node, .. }
            | Self::ItemFailed { node, .. }
            | Self::ForEachCompleted { node }
            | Self::WaitStarted { node, .. }
            | Self::UsageReported { node, .. }
            | Self::SessionReported { node, .. }
            | Self::NodeClaimed { node, .. }
            | Self::ProofStarted { node, .. }
            | Self::ProofInterrupted { node, .. }
            | Self::ProofReported { node, .. }
            | Self::AwaitingApproval { node, .. }
            | Self::ApprovalGranted { node, .. }
            | Self::ApprovalRejected { node, .. } => Some(node),
            Self::RunFailed { node, .. } => node.as_ref(),
            Self::RunStarted(_)
            | Self::RunAdopted { .. }
            | Self::RunResumed { .. }
            | Self::BudgetNotice { .. }
            | Self::BudgetReached { .. }
            | Self::DeadlinePassed { .. }
            | Self::CancelRequested { .. }
            | Self::SignalRefused { .. }
            | Self::RunCompleted => None,
        }
    }

    /// The signal that the fact answers, if it answers one.
    pub fn signal(&self) -> Option<&SignalId> {
        match self {
            Self::RunResumed { signal, .. }
            | Self::ApprovalGranted { signal, .. }
            | Self::ApprovalRejected { signal, .. }
            | Self::CancelRequested { signal, .. }
            | Self::SignalRefused { signal, .. } => Some(signal),
            Self::RunStarted(_)
            | Self::RunAdopted { .. }
            | Self::NodeStarted { .. }
            | Self::NodeCompleted { .. }
            | Self::DecisionCompleted { .. }
            | Self::BranchTaken { .. }
            | Self::StateUpdated { .. }
            | Self::Notification { .. }
            | Self::NodeSkipped { .. }
            | Self::NodeFailed { .. }
            | Self::AttemptFailed { .. }
            | Self::AttemptUnknown { .. }
            | Self::NodeCancelled { .. }
            | Self::LoopIteration { .. }
            | Self::LoopCompleted { .. }
            | Self::ForEachStarted { .. }
            | Self::ItemCompleted { .. }
            | Self::ItemFailed { .. }
            | Self::ForEachCompleted { .. }
            | Self::WaitStarted { .. }
            | Self::UsageReported { .. }
            | Self::SessionReported { .. }
            | Self::NodeClaimed { .. }
            | Self::ProofStarted { .. }
            | Self::ProofInterrupted { .. }
            | Self::ProofReported { .. }
            | Self::BudgetNotice { .. }
            | Self::BudgetReached { .. }
            | Self::DeadlinePassed { .. }
            | Self::AwaitingApproval { .. }
            | Self::RunCompleted
            | Self::RunFailed { .. } => None,
        }
    }
}
