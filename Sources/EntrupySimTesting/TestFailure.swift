#if canImport(Testing)
    import Testing
#endif

/// Failures of expectations.
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
}
