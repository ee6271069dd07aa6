extension ScenarioRun {
    /// What keeps an action from being done, in words: its problem, or the time that it waits for; `nil` if it is done.
    package func obstacle(to action: Action) -> String? {
        guard action.state == "waiting" else { return action.problem }
        let (left, whole) = (action.at - clock.epoch, action.at - started_at)
        let standing = clock.mode == "frozen" ? "; the clock is frozen: advance it" : ""
        return "is still due: in \(DurationText.text(seconds: max(0, left))), "
            + "\(DurationText.text(seconds: max(0, whole))) after the start\(standing)"
    }
}
