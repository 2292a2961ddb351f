package import CoreMetrics
import Foundation
import Glibc

/// Memory, processor time and files of this process. The names are those that Prometheus' own libraries use.
package struct ProcessMetrics: Sendable {
  private let resident: Meter
  private let openFiles: Meter
  private let maximumFiles: Meter
  private let processor: SampledTotal

  package init(_ factory: any MetricsFactory) {
    resident = factory.meter(.residentBytes)
    openFiles = factory.meter(.openFiles)
    maximumFiles = factory.meter(.maximumFiles)
    processor = SampledTotal(factory.floatingPointCounter(.processorSeconds))
  }

  /// Reads `/proc`, which blocks for less than a millisecond, unless very many files are open.
  package func sample() {
    if let pages = Self.residentPages { resident.set(pages * Int64(sysconf(Int32(_SC_PAGESIZE)))) }
    if let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      // One of them is that of the directory.
      openFiles.set(Int64(max(0, files.count - 1)))
    }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 { maximumFiles.set(Double(limit.rlim_cur)) }
    var usage = rusage()
    if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
      processor.set(Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime))
    }
  }

  private static var residentPages: Int64? {
    let numbers = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
    return numbers.flatMap { $0.count > 1 ? Int64($0[1]) : nil }
  }

  private static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
  }
}
