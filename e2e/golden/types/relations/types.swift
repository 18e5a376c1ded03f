import Foundation
import Supabase

internal enum PublicSchema {
  internal struct CycleASelect: Codable, Hashable, Sendable {
    internal let b: Int32?
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case b = "b"
      case id = "id"
    }
  }
  internal struct CycleAInsert: Codable, Hashable, Sendable {
    internal let b: Int32?
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case b = "b"
      case id = "id"
    }
  }
  internal struct CycleAUpdate: Codable, Hashable, Sendable {
    internal let b: Int32?
    internal let id: Int32?
    internal enum CodingKeys: String, CodingKey {
      case b = "b"
      case id = "id"
    }
  }
  internal struct CycleBSelect: Codable, Hashable, Sendable {
    internal let a: Int32?
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case a = "a"
      case id = "id"
    }
  }
  internal struct CycleBInsert: Codable, Hashable, Sendable {
    internal let a: Int32?
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case a = "a"
      case id = "id"
    }
  }
  internal struct CycleBUpdate: Codable, Hashable, Sendable {
    internal let a: Int32?
    internal let id: Int32?
    internal enum CodingKeys: String, CodingKey {
      case a = "a"
      case id = "id"
    }
  }
  internal struct IndexUniqueSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct IndexUniqueInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct IndexUniqueUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct MeasurementsSelect: Codable, Hashable, Sendable {
    internal let at: String
    internal let station: Int32
    internal enum CodingKeys: String, CodingKey {
      case at = "at"
      case station = "station"
    }
  }
  internal struct MeasurementsInsert: Codable, Hashable, Sendable {
    internal let at: String
    internal let station: Int32
    internal enum CodingKeys: String, CodingKey {
      case at = "at"
      case station = "station"
    }
  }
  internal struct MeasurementsUpdate: Codable, Hashable, Sendable {
    internal let at: String?
    internal let station: Int32?
    internal enum CodingKeys: String, CodingKey {
      case at = "at"
      case station = "station"
    }
  }
  internal struct Measurements2026Select: Codable, Hashable, Sendable {
    internal let at: String
    internal let station: Int32
    internal enum CodingKeys: String, CodingKey {
      case at = "at"
      case station = "station"
    }
  }
  internal struct Measurements2026Insert: Codable, Hashable, Sendable {
    internal let at: String
    internal let station: Int32
    internal enum CodingKeys: String, CodingKey {
      case at = "at"
      case station = "station"
    }
  }
  internal struct Measurements2026Update: Codable, Hashable, Sendable {
    internal let at: String?
    internal let station: Int32?
    internal enum CodingKeys: String, CodingKey {
      case at = "at"
      case station = "station"
    }
  }
  internal struct NotValidFkSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let tag: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case tag = "tag"
    }
  }
  internal struct NotValidFkInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let tag: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case tag = "tag"
    }
  }
  internal struct NotValidFkUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let tag: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case tag = "tag"
    }
  }
  internal struct PartialUniqueSelect: Codable, Hashable, Sendable {
    internal let active: Bool?
    internal let id: Int32
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case active = "active"
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct PartialUniqueInsert: Codable, Hashable, Sendable {
    internal let active: Bool?
    internal let id: Int32
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case active = "active"
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct PartialUniqueUpdate: Codable, Hashable, Sendable {
    internal let active: Bool?
    internal let id: Int32?
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case active = "active"
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct PlanDetailsSelect: Codable, Hashable, Sendable {
    internal let code: String
    internal let company: Int32
    internal let detail: String?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
      case detail = "detail"
    }
  }
  internal struct PlanDetailsInsert: Codable, Hashable, Sendable {
    internal let code: String
    internal let company: Int32
    internal let detail: String?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
      case detail = "detail"
    }
  }
  internal struct PlanDetailsUpdate: Codable, Hashable, Sendable {
    internal let code: String?
    internal let company: Int32?
    internal let detail: String?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
      case detail = "detail"
    }
  }
  internal struct PlanPartUniqueSelect: Codable, Hashable, Sendable {
    internal let code: String?
    internal let company: Int32?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
    }
  }
  internal struct PlanPartUniqueInsert: Codable, Hashable, Sendable {
    internal let code: String?
    internal let company: Int32?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
    }
  }
  internal struct PlanPartUniqueUpdate: Codable, Hashable, Sendable {
    internal let code: String?
    internal let company: Int32?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
    }
  }
  internal struct PlanReorderedSelect: Codable, Hashable, Sendable {
    internal let aCompany: Int32?
    internal let bCode: String?
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case aCompany = "a_company"
      case bCode = "b_code"
      case id = "id"
    }
  }
  internal struct PlanReorderedInsert: Codable, Hashable, Sendable {
    internal let aCompany: Int32?
    internal let bCode: String?
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case aCompany = "a_company"
      case bCode = "b_code"
      case id = "id"
    }
  }
  internal struct PlanReorderedUpdate: Codable, Hashable, Sendable {
    internal let aCompany: Int32?
    internal let bCode: String?
    internal let id: Int32?
    internal enum CodingKeys: String, CodingKey {
      case aCompany = "a_company"
      case bCode = "b_code"
      case id = "id"
    }
  }
  internal struct PlansSelect: Codable, Hashable, Sendable {
    internal let code: String
    internal let company: Int32
    internal let price: Decimal
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
      case price = "price"
    }
  }
  internal struct PlansInsert: Codable, Hashable, Sendable {
    internal let code: String
    internal let company: Int32
    internal let price: Decimal
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
      case price = "price"
    }
  }
  internal struct PlansUpdate: Codable, Hashable, Sendable {
    internal let code: String?
    internal let company: Int32?
    internal let price: Decimal?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case company = "company"
      case price = "price"
    }
  }
  internal struct PostTagsSelect: Codable, Hashable, Sendable {
    internal let addedBy: UUID?
    internal let postId: Int64
    internal let tagId: Int32
    internal enum CodingKeys: String, CodingKey {
      case addedBy = "added_by"
      case postId = "post_id"
      case tagId = "tag_id"
    }
  }
  internal struct PostTagsInsert: Codable, Hashable, Sendable {
    internal let addedBy: UUID?
    internal let postId: Int64
    internal let tagId: Int32
    internal enum CodingKeys: String, CodingKey {
      case addedBy = "added_by"
      case postId = "post_id"
      case tagId = "tag_id"
    }
  }
  internal struct PostTagsUpdate: Codable, Hashable, Sendable {
    internal let addedBy: UUID?
    internal let postId: Int64?
    internal let tagId: Int32?
    internal enum CodingKeys: String, CodingKey {
      case addedBy = "added_by"
      case postId = "post_id"
      case tagId = "tag_id"
    }
  }
  internal struct PostsSelect: Codable, Hashable, Sendable, Identifiable {
    internal let authorId: UUID
    internal let editorId: UUID?
    internal let id: Int64
    internal let parentId: Int64?
    internal let reviewerEmail: String?
    internal let title: String
    internal enum CodingKeys: String, CodingKey {
      case authorId = "author_id"
      case editorId = "editor_id"
      case id = "id"
      case parentId = "parent_id"
      case reviewerEmail = "reviewer_email"
      case title = "title"
    }
  }
  internal struct PostsInsert: Codable, Hashable, Sendable, Identifiable {
    internal let authorId: UUID
    internal let editorId: UUID?
    internal let id: Int64?
    internal let parentId: Int64?
    internal let reviewerEmail: String?
    internal let title: String
    internal enum CodingKeys: String, CodingKey {
      case authorId = "author_id"
      case editorId = "editor_id"
      case id = "id"
      case parentId = "parent_id"
      case reviewerEmail = "reviewer_email"
      case title = "title"
    }
  }
  internal struct PostsUpdate: Codable, Hashable, Sendable, Identifiable {
    internal let authorId: UUID?
    internal let editorId: UUID?
    internal let id: Int64?
    internal let parentId: Int64?
    internal let reviewerEmail: String?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case authorId = "author_id"
      case editorId = "editor_id"
      case id = "id"
      case parentId = "parent_id"
      case reviewerEmail = "reviewer_email"
      case title = "title"
    }
  }
  internal struct ProfilesSelect: Codable, Hashable, Sendable {
    internal let bio: String?
    internal let userId: UUID
    internal enum CodingKeys: String, CodingKey {
      case bio = "bio"
      case userId = "user_id"
    }
  }
  internal struct ProfilesInsert: Codable, Hashable, Sendable {
    internal let bio: String?
    internal let userId: UUID
    internal enum CodingKeys: String, CodingKey {
      case bio = "bio"
      case userId = "user_id"
    }
  }
  internal struct ProfilesUpdate: Codable, Hashable, Sendable {
    internal let bio: String?
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case bio = "bio"
      case userId = "user_id"
    }
  }
  internal struct SettingsSelect: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int64
    internal let theme: String
    internal let userId: UUID
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case theme = "theme"
      case userId = "user_id"
    }
  }
  internal struct SettingsInsert: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int64?
    internal let theme: String?
    internal let userId: UUID
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case theme = "theme"
      case userId = "user_id"
    }
  }
  internal struct SettingsUpdate: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int64?
    internal let theme: String?
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case theme = "theme"
      case userId = "user_id"
    }
  }
  internal struct SettingsNullableOneSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct SettingsNullableOneInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct SettingsNullableOneUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let userId: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case userId = "user_id"
    }
  }
  internal struct StationsSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
    }
  }
  internal struct StationsInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
    }
  }
  internal struct StationsUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
    }
  }
  internal struct SubscriptionsSelect: Codable, Hashable, Sendable {
    internal let company: Int32
    internal let id: Int32
    internal let planCode: String
    internal let previousCode: String?
    internal let previousCompany: Int32?
    internal enum CodingKeys: String, CodingKey {
      case company = "company"
      case id = "id"
      case planCode = "plan_code"
      case previousCode = "previous_code"
      case previousCompany = "previous_company"
    }
  }
  internal struct SubscriptionsInsert: Codable, Hashable, Sendable {
    internal let company: Int32
    internal let id: Int32
    internal let planCode: String
    internal let previousCode: String?
    internal let previousCompany: Int32?
    internal enum CodingKeys: String, CodingKey {
      case company = "company"
      case id = "id"
      case planCode = "plan_code"
      case previousCode = "previous_code"
      case previousCompany = "previous_company"
    }
  }
  internal struct SubscriptionsUpdate: Codable, Hashable, Sendable {
    internal let company: Int32?
    internal let id: Int32?
    internal let planCode: String?
    internal let previousCode: String?
    internal let previousCompany: Int32?
    internal enum CodingKeys: String, CodingKey {
      case company = "company"
      case id = "id"
      case planCode = "plan_code"
      case previousCode = "previous_code"
      case previousCompany = "previous_company"
    }
  }
  internal struct TagsSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let name: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
    }
  }
  internal struct TagsInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let name: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
    }
  }
  internal struct TagsUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let name: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case name = "name"
    }
  }
  internal struct TwiceSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let tag: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case tag = "tag"
    }
  }
  internal struct TwiceInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let tag: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case tag = "tag"
    }
  }
  internal struct TwiceUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let tag: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case tag = "tag"
    }
  }
  internal struct UsersSelect: Codable, Hashable, Sendable {
    internal let email: String
    internal let handle: String
    internal let id: UUID
    internal enum CodingKeys: String, CodingKey {
      case email = "email"
      case handle = "handle"
      case id = "id"
    }
  }
  internal struct UsersInsert: Codable, Hashable, Sendable {
    internal let email: String
    internal let handle: String
    internal let id: UUID?
    internal enum CodingKeys: String, CodingKey {
      case email = "email"
      case handle = "handle"
      case id = "id"
    }
  }
  internal struct UsersUpdate: Codable, Hashable, Sendable {
    internal let email: String?
    internal let handle: String?
    internal let id: UUID?
    internal enum CodingKeys: String, CodingKey {
      case email = "email"
      case handle = "handle"
      case id = "id"
    }
  }
  internal struct PostListSelect: Codable, Hashable, Sendable {
    internal let authorEmail: String?
    internal let authorId: UUID?
    internal let id: Int64?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case authorEmail = "author_email"
      case authorId = "author_id"
      case id = "id"
      case title = "title"
    }
  }
  internal struct UserNamesSelect: Codable, Hashable, Sendable {
    internal let handle: String?
    internal let id: UUID?
    internal enum CodingKeys: String, CodingKey {
      case handle = "handle"
      case id = "id"
    }
  }
}
