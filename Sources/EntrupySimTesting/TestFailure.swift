#if canImport(Testing)
    import Testing
#endif

/// Failures and warnings of tests.
enum TestFailure {
    /// Records a failure in the running test of Swift Testing. Throws it if there is none.
    static func record(_ text: String, _ fileID: String, _ filePath: String, _ line: Int, _ column: Int) throws {
        #if canImport(Testing)
            if Test.current != nil {
                Issue.record(
                    Comment(rawValue: text),
                    sourceLocation: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
                return
            }
        #endif
        throw SimulatorError(text)
    }

    /// Records a warning in the running test of Swift Testing. Prints it to standard error if there is none.
    static func warn(
        _ text: String, _ fileID: String = #fileID, _ filePath: String = #filePath, _ line: Int = #line,
        _ column: Int = #column
    ) {
        #if canImport(Testing) && compiler(>=6.3)
            if Test.current != nil {
                Issue.record(
                    Comment(rawValue: text), severity: .warning,
                    sourceLocation: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
                return
            }
        #endif
        SimulatedNamespace.printToStandardError("note: \(text)")
    }
}
