import Foundation
import Measures

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The most that a server may take of a client's time and memory. Times are in seconds.
package struct RequestLimits: Sendable {
    /// The longest time until the answer begins.
    package var head: TimeInterval
    /// The longest time without a byte after that.
    package var idle: TimeInterval
    /// The maximum size of the answer's body in bytes, decoded.
    package var bytes: Int

    /// The maximum size of a body that is held in memory, unless a client says otherwise: errors always are.
    package static let defaultBytes = 64_000_000

    package init(head: TimeInterval = 30, idle: TimeInterval = 30, bytes: Int = RequestLimits.defaultBytes) {
        self.head = head
        self.idle = idle
        self.bytes = bytes
    }
}

/// An answer that a limit ended, or that this client does not accept.
package enum RefusedAnswer: Error, Equatable {
    /// No byte came for so many seconds.
    case silent(TimeInterval, isInBody: Bool)
    /// The whole request took so many seconds.
    case late(TimeInterval)
    /// The body is larger than so many bytes.
    case tooLong(Int)
    /// The server redirects to a URL.
    case redirected(String)

    /// The problem in one sentence.
    package func description(of address: String) -> String {
        switch self {
        case .silent(let seconds, isInBody: false), .late(let seconds):
            "\(address) did not answer within \(DurationText.text(seconds: seconds))"
        case .silent(let seconds, isInBody: true):
            "\(address) sent nothing for \(DurationText.text(seconds: seconds)), and its answer is not complete"
        case .tooLong(let bytes):
            "the answer of \(address) is larger than \(SizeText.text(bytes))"
        case .redirected(let place):
            "\(address) redirects to \(place), and redirects are not followed: use the address of the server itself"
        }
    }
}

/// One request to a server that is not trusted. Its answer is bounded in size, silence ends it, and no redirect is followed, so no
/// token reaches another server.
///
/// On Linux, all URLSessions of a process share a queue that libcurl does not leave while there is more to read. Against a server that
/// sends without a pause, the limits and other requests would wait until it does, and the answer would be in memory by then. So requests
/// over http have a client of their own there. Those over https, which only servers of one's own answer, use URLSession.
package final class BoundedRequest: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    package struct Answer: Sendable {
        package let status: Int
        /// Empty if a successful answer was handed to a receiver.
        package let body: Data
    }

    private let request: URLRequest
    private let limits: RequestLimits
    private let receive: (@Sendable (Data) throws -> Void)?
    private let lock = NSLock()
    // The lock guards these.
    private var cancelTask: (@Sendable () -> Void)?
    private var completion: ((Result<Answer, any Error>) -> Void)?
    private var hasEnded = false
    /// The time at which the server has been silent for too long. `nil` while no bytes are awaited.
    private var deadline: DispatchTime?
    private var isInBody = false
    // Only the session's queue uses these, or the thread of the exchange.
    private var status = 0
    private var expected: Int64?
    private var body = Data()
    private var count = 0

    /// - Parameter receive: gets the parts of the body of a 2xx answer instead of ``Answer/body``.
    package init(
        _ request: URLRequest, _ limits: RequestLimits, receive: (@Sendable (Data) throws -> Void)? = nil
    ) {
        var request = request
        // This class ends it. URLSession on Linux counts whole seconds.
        request.timeoutInterval = 86_400
        self.request = request
        self.limits = limits
        self.receive = receive
    }

    /// Sends the request and returns its answer. Cancelling the task ends it.
    ///
    /// - Throws: ``RefusedAnswer``, `CancellationError`, what `receive` throws, or the error of the connection.
    package func answer() async throws -> Answer {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in begin { continuation.resume(with: $0) } }
        } onCancel: {
            end(.failure(CancellationError()))
        }
    }

    /// Sends the request. `completion` is called once.
    ///
    /// - Parameter seconds: the longest time for the whole request; `nil` for no limit but those of silence.
    package func begin(
        atMost seconds: TimeInterval? = nil, _ completion: @escaping @Sendable (Result<Answer, any Error>) -> Void
    ) {
        let exchange = exchange()
        let isCancelled = lock.withLock {
            guard !hasEnded else { return true }
            cancelTask = exchange.cancel
            self.completion = completion
            deadline = .now() + limits.head
            return false
        }
        guard !isCancelled else {
            exchange.drop()
            return completion(.failure(CancellationError()))
        }
        exchange.begin()
        look(after: limits.head)
        guard let seconds else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
            self?.end(.failure(RefusedAnswer.late(seconds)))
        }
    }

    /// The ways to begin the request, which holds this object until it has ended, to end it, and to leave it unsent.
    private func exchange() -> (begin: () -> Void, cancel: @Sendable () -> Void, drop: () -> Void) {
        #if canImport(FoundationNetworking) && canImport(Glibc)
            if request.url?.scheme?.lowercased() == "http" {
                let exchange = PlainExchange(request, self)
                return (exchange.begin, { exchange.cancel() }, {})
            }
        #endif
        // Each request has a connection of its own. On Linux libcurl repeats a request whose kept connection was closed, and
        // URLSession then does not send the body again.
        let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
        let task = session.dataTask(with: request)
        let begin = {
            task.resume()
            session.finishTasksAndInvalidate()
        }
        return (begin, { task.cancel() }, { session.invalidateAndCancel() })
    }

    private func end(_ result: Result<Answer, any Error>) {
        let ended = close()
        ended.cancelTask?()
        ended.completion?(result)
    }

    /// Ends the request. What it returns is returned once.
    private func close() -> (
        cancelTask: (@Sendable () -> Void)?, completion: ((Result<Answer, any Error>) -> Void)?, wasOver: Bool
    ) {
        lock.withLock {
            defer { (cancelTask, completion, hasEnded) = (nil, nil, true) }
            return (cancelTask, completion, hasEnded)
        }
    }

    // MARK: Silence

    /// After so many seconds, ends the request if its deadline is over; else looks again then.
    private func look(after seconds: TimeInterval) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in
            guard let self else { return }
            let (deadline, isInBody, hasEnded) = lock.withLock { (self.deadline, self.isInBody, self.hasEnded) }
            guard !hasEnded else { return }
            let now = DispatchTime.now()
            guard let deadline else { return look(after: limits.idle) }
            guard deadline <= now else {
                return look(after: Double(deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1e9)
            }
            end(.failure(RefusedAnswer.silent(isInBody ? limits.idle : limits.head, isInBody: isInBody)))
        }
    }

    private func expect(bytesWithin seconds: TimeInterval?) {
        lock.withLock {
            deadline = seconds.map { .now() + $0 }
            isInBody = true
        }
    }

    // MARK: The answer

    #if canImport(FoundationNetworking) && canImport(Glibc)
        /// Takes the head of an answer, and ends the request at a redirect.
        ///
        /// - Returns: whether the body is wanted.
        func takeHead(_ head: PlainExchange.Head) -> Bool {
            if let place = head.value("location"), [301, 302, 303, 307, 308].contains(head.status) {
                let url = URL(string: place, relativeTo: request.url)?.absoluteString ?? place
                end(.failure(RefusedAnswer.redirected(url)))
                return false
            }
            begin(status: head.status, expected: nil)
            return true
        }
    #endif

    private func begin(status: Int, expected: Int64?) {
        (self.status, self.expected) = (status, expected)
        expect(bytesWithin: limits.idle)
        look(after: limits.idle)
    }

    /// Takes a part of the body.
    ///
    /// - Returns: `false` if the request has ended.
    func take(_ data: Data) -> Bool {
        let receive = (200..<300).contains(status) ? receive : nil
        let maxBytes = receive == nil ? min(limits.bytes, RequestLimits.defaultBytes) : limits.bytes
        count += data.count
        guard count <= maxBytes else {
            end(.failure(RefusedAnswer.tooLong(maxBytes)))
            return false
        }
        guard let receive else {
            body.append(data)
            expect(bytesWithin: limits.idle)
            return true
        }
        // A slow disk is not the server's silence.
        expect(bytesWithin: nil)
        do {
            try receive(data)
        } catch {
            end(.failure(error))
            return false
        }
        expect(bytesWithin: limits.idle)
        return true
    }

    /// Ends the request.
    ///
    /// - Parameter error: `nil` if the answer was whole.
    func finish(_ error: (any Error)?) {
        // libcurl's words for a body that ends early; URLSession on Linux has no code for it.
        if let error, error.localizedDescription.hasPrefix("transfer closed") {
            return end(.failure(URLError(.networkConnectionLost)))
        }
        if let error { return end(.failure(error)) }
        // URLSession on Linux passes on a body that the server cut short.
        if let expected, expected > 0, Int64(count) < expected {
            return end(.failure(URLError(.networkConnectionLost)))
        }
        end(.success(Answer(status: status, body: body)))
    }

    // MARK: URLSessionDataDelegate

    package func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let ended = close()
        // URLSession on Linux traps if a task is cancelled before it has taken this answer. So a task that is cancelled gets none,
        // and one that gets an answer is not cancelled: it ends with the redirect as its answer, which nobody reads.
        #if canImport(FoundationNetworking)
            if ended.wasOver { return }
        #endif
        completionHandler(nil)
        ended.completion?(.failure(RefusedAnswer.redirected(request.url?.absoluteString ?? "another address")))
    }

    package func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let response = response as? HTTPURLResponse
        // A head of 1xx is not the answer's.
        if let response, (100..<200).contains(response.statusCode) { return completionHandler(.allow) }
        // The length is that of the encoded body.
        let isEncoded = response?.value(forHTTPHeaderField: "Content-Encoding") != nil
        begin(status: response?.statusCode ?? 0, expected: isEncoded ? nil : response?.expectedContentLength)
        completionHandler(.allow)
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        _ = take(data)
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish(error)
    }
}
