import SimulationAPI

extension RequestEffect {
    static let status = Self(
        name: "status", about: "Answers with this status. The request is not handled.", proves: [],
        parts: ["body", "headers"]
    ) { effect, name in
        let (status, body) = (effect.number(name, in: 200...599) ?? 0, effect.value("body"))
        let (headers, hasNoBody) = (HeaderField.read(&effect), [204, 205, 304].contains(status))
        let problem = ErrorDetail("body", "must be left out: a \(status) has no body (RFC 9110)")
        return Action(statuses: [status], problemOfNew: hasNoBody && body != nil ? problem : nil) {
            .injected(faultID: $0.ruleID, status: status, body: body, headers: headers)
        }
    }
}
