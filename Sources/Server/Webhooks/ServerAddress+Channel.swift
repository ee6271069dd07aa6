import NIOCore
import Simulation

extension ServerAddress {
    /// The address that a server channel is bound to. For a wildcard address, the current addresses of all
    /// interfaces.
    init(of channel: any Channel, port: Int, tlsPort: Int?, publicURL: String) {
        let bound = channel.localAddress?.ipAddress
        let isAnywhere = ["0.0.0.0", "::"].contains(bound)
        // Without a list of devices only loopback and the bound address are known as its own.
        let devices = isAnywhere ? (try? System.enumerateDevices()) ?? [] : []
        self.init(
            port: port, tlsPort: tlsPort,
            addresses: isAnywhere ? devices.compactMap(\.address?.ipAddress) : [bound].compactMap(\.self),
            publicURL: publicURL)
    }
}
