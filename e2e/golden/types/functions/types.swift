import Foundation
import Supabase

internal enum PublicSchema {
  internal enum Level: String, Codable, Hashable, Sendable {
    case low = "low"
    case high = "high"
  }
  internal struct PeopleSelect: Codable, Hashable, Sendable {
    internal let bossId: Int32?
    internal let firstName: String
    internal let id: Int32
    internal let lastName: String?
    internal enum CodingKeys: String, CodingKey {
      case bossId = "boss_id"
      case firstName = "first_name"
      case id = "id"
      case lastName = "last_name"
    }
  }
  internal struct PeopleInsert: Codable, Hashable, Sendable {
    internal let bossId: Int32?
    internal let firstName: String
    internal let id: Int32
    internal let lastName: String?
    internal enum CodingKeys: String, CodingKey {
      case bossId = "boss_id"
      case firstName = "first_name"
      case id = "id"
      case lastName = "last_name"
    }
  }
  internal struct PeopleUpdate: Codable, Hashable, Sendable {
    internal let bossId: Int32?
    internal let firstName: String?
    internal let id: Int32?
    internal let lastName: String?
    internal enum CodingKeys: String, CodingKey {
      case bossId = "boss_id"
      case firstName = "first_name"
      case id = "id"
      case lastName = "last_name"
    }
  }
  internal struct PetsSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let name: String
    internal let ownerId: Int32
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
      case ownerId = "owner_id"
    }
  }
  internal struct PetsInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let name: String
    internal let ownerId: Int32
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
      case ownerId = "owner_id"
    }
  }
  internal struct PetsUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let name: String?
    internal let ownerId: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
      case ownerId = "owner_id"
    }
  }
  internal struct PeopleViewSelect: Codable, Hashable, Sendable {
    internal let firstName: String?
    internal let id: Int32?
    internal enum CodingKeys: String, CodingKey {
      case firstName = "first_name"
      case id = "id"
    }
  }
  internal struct Point3: Codable, Hashable, Sendable {
    internal let X: AnyJSON
    internal let Y: AnyJSON
    internal let Z: AnyJSON
    internal enum CodingKeys: String, CodingKey {
      case X = "x"
      case Y = "y"
      case Z = "z"
    }
  }
}
