import GRDB
import Storage

extension Transaction {
    /// Adds `count` to the number of a user's submissions.
    package func countSubmissions(userID: Int64, count: Int = 1) throws {
        try run("UPDATE users SET submissions = submissions + ? WHERE id = ?", [count, userID])
    }
}
