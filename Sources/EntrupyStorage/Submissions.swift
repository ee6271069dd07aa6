import GRDB
import Storage

extension Transaction {
    /// Adds `count` to the number of a user's submissions.
    package func countSubmissions(userID: Int64, count: Int) throws {
        try run("UPDATE users SET submissions = submissions + ? WHERE id = ?", [count, userID])
    }

    /// Adds one to the number of a user's submissions.
    package func countSubmission(userID: Int64) throws {
        try run("UPDATE users SET submissions = submissions + 1 WHERE id = ?", [userID])
    }
}
