import Foundation
import Supabase

internal enum PublicSchema {
  internal struct ItemDetailsSelect: Codable, Hashable, Sendable {
    internal let body: String?
    internal let itemId: Int32
    internal enum CodingKeys: String, CodingKey {
      case body = "body"
      case itemId = "item_id"
    }
  }
  internal struct ItemDetailsInsert: Codable, Hashable, Sendable {
    internal let body: String?
    internal let itemId: Int32
    internal enum CodingKeys: String, CodingKey {
      case body = "body"
      case itemId = "item_id"
    }
  }
  internal struct ItemDetailsUpdate: Codable, Hashable, Sendable {
    internal let body: String?
    internal let itemId: Int32?
    internal enum CodingKeys: String, CodingKey {
      case body = "body"
      case itemId = "item_id"
    }
  }
  internal struct ItemsSelect: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int32
    internal let price: Decimal
    internal let shopId: Int32
    internal let soldAt: String?
    internal let title: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case price = "price"
      case shopId = "shop_id"
      case soldAt = "sold_at"
      case title = "title"
    }
  }
  internal struct ItemsInsert: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int32?
    internal let price: Decimal?
    internal let shopId: Int32
    internal let soldAt: String?
    internal let title: String
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case price = "price"
      case shopId = "shop_id"
      case soldAt = "sold_at"
      case title = "title"
    }
  }
  internal struct ItemsUpdate: Codable, Hashable, Sendable, Identifiable {
    internal let id: Int32?
    internal let price: Decimal?
    internal let shopId: Int32?
    internal let soldAt: String?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case price = "price"
      case shopId = "shop_id"
      case soldAt = "sold_at"
      case title = "title"
    }
  }
  internal struct RemoteItemsSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let price: Decimal?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case price = "price"
      case title = "title"
    }
  }
  internal struct RemoteItemsInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let price: Decimal?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case price = "price"
      case title = "title"
    }
  }
  internal struct RemoteItemsUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let price: Decimal?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case price = "price"
      case title = "title"
    }
  }
  internal struct ShopsSelect: Codable, Hashable, Sendable {
    internal let city: String?
    internal let id: Int32
    internal let name: String
    internal enum CodingKeys: String, CodingKey {
      case city = "city"
      case id = "id"
      case name = "name"
    }
  }
  internal struct ShopsInsert: Codable, Hashable, Sendable {
    internal let city: String?
    internal let id: Int32
    internal let name: String
    internal enum CodingKeys: String, CodingKey {
      case city = "city"
      case id = "id"
      case name = "name"
    }
  }
  internal struct ShopsUpdate: Codable, Hashable, Sendable {
    internal let city: String?
    internal let id: Int32?
    internal let name: String?
    internal enum CodingKeys: String, CodingKey {
      case city = "city"
      case id = "id"
      case name = "name"
    }
  }
  internal struct ConstantsSelect: Codable, Hashable, Sendable {
    internal let doc: AnyJSON?
    internal let nothing: String?
    internal let numbers: [Int32]?
    internal let one: Int32?
    internal let x: String?
    internal enum CodingKeys: String, CodingKey {
      case doc = "doc"
      case nothing = "nothing"
      case numbers = "numbers"
      case one = "one"
      case x = "x"
    }
  }
  internal struct CountedSelect: Codable, Hashable, Sendable {
    internal let items: Int64?
    internal let shopId: Int32?
    internal let total: Decimal?
    internal enum CodingKeys: String, CodingKey {
      case items = "items"
      case shopId = "shop_id"
      case total = "total"
    }
  }
  internal struct DetailsOneSelect: Codable, Hashable, Sendable {
    internal let body: String?
    internal let itemId: Int32?
    internal enum CodingKeys: String, CodingKey {
      case body = "body"
      case itemId = "item_id"
    }
  }
  internal struct DistinctTitlesSelect: Codable, Hashable, Sendable {
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case title = "title"
    }
  }
  internal struct FilteredSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let shopId: Int32?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case shopId = "shop_id"
      case title = "title"
    }
  }
  internal struct JoinedSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let shopId: Int32?
    internal let shopName: String?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case shopId = "shop_id"
      case shopName = "shop_name"
      case title = "title"
    }
  }
  internal struct LimitedSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case title = "title"
    }
  }
  internal struct OnViewSelect: Codable, Hashable, Sendable {
    internal let itemId: Int32?
    internal let name: String?
    internal enum CodingKeys: String, CodingKey {
      case itemId = "item_id"
      case name = "name"
    }
  }
  internal struct PartlySelect: Codable, Hashable, Sendable {
    internal let doublePrice: Decimal?
    internal let id: Int32?
    internal let loud: String?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case doublePrice = "double_price"
      case id = "id"
      case loud = "loud"
      case title = "title"
    }
  }
  internal struct RecursiveLikeSelect: Codable, Hashable, Sendable {
    internal let n: Int32?
    internal enum CodingKeys: String, CodingKey {
      case n = "n"
    }
  }
  internal struct RenamedSelect: Codable, Hashable, Sendable {
    internal let itemId: Int32?
    internal let name: String?
    internal let shop: Int32?
    internal enum CodingKeys: String, CodingKey {
      case itemId = "item_id"
      case name = "name"
      case shop = "shop"
    }
  }
  internal struct ShopCopySelect: Codable, Hashable, Sendable {
    internal let city: String?
    internal let id: Int32?
    internal let name: String?
    internal enum CodingKeys: String, CodingKey {
      case city = "city"
      case id = "id"
      case name = "name"
    }
  }
  internal struct SimpleSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let price: Decimal?
    internal let shopId: Int32?
    internal let soldAt: String?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case price = "price"
      case shopId = "shop_id"
      case soldAt = "sold_at"
      case title = "title"
    }
  }
  internal struct StatsSelect: Codable, Hashable, Sendable {
    internal let items: Int64?
    internal let shopId: Int32?
    internal enum CodingKeys: String, CodingKey {
      case items = "items"
      case shopId = "shop_id"
    }
  }
  internal struct UnionedSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case title = "title"
    }
  }
  internal struct ViewWithSpacesSelect: Codable, Hashable, Sendable {
    internal let class: String?
    internal let theId: Int32?
    internal enum CodingKeys: String, CodingKey {
      case class = "class"
      case theId = "the id"
    }
  }
  internal struct WithDetailsSelect: Codable, Hashable, Sendable {
    internal let body: String?
    internal let id: Int32?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case body = "body"
      case id = "id"
      case title = "title"
    }
  }
  internal struct WithRuleSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case title = "title"
    }
  }
  internal struct WithTriggerSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let shopName: String?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case shopName = "shop_name"
      case title = "title"
    }
  }
  internal struct WithTriggerAllSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let title: String?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case title = "title"
    }
  }
}
