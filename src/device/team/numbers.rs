//! Numbers of teams.
use crate::tuning::numbers;

numbers! {
    /// Numbers of teams.
    pub(crate) struct TeamNumbers |n| {
        /// 1 if teams of 32 work-items exchange words by warp instructions, which NVIDIA devices
        /// have; 0 if teams exchange words through local memory.
        warp_instructions: All(0, 1),
    }
}

const GPU: TeamNumbers = TeamNumbers { warp_instructions: 1 };

const CPU: TeamNumbers = TeamNumbers { warp_instructions: 0 };
