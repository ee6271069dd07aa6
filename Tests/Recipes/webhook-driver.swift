// Calls the Swift function of recipes/webhooks for Tests/Recipes/webhooks.py, which compiles both files together.
//
// A line of input is the secret, the body, the header and the name of the form, the first three as base64, `-` for a header that is
// missing. A line of output is `true` or `false`.

import Foundation

@main enum Driver {
    static func main() {
        while let line = readLine() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            let text = { (word: String) in String(decoding: Data(base64Encoded: word)!, as: UTF8.self) }
            print(
                isWebhookSigned(
                    Data(base64Encoded: words[1])!, by: words[2] == "-" ? nil : text(words[2]), secret: text(words[0]),
                    form: WebhookSignatureForm(rawValue: words[3])!))
            fflush(stdout)
        }
    }
}
