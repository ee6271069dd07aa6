// The vendor's framework hands on UIKit to whoever imports it.
@_exported import UIKitStandIns
