extension RuleNote {
    public init(_ detail: ErrorDetail) {
        self.init(detail.field, detail.problem)
    }
}
