import Foundation
import Supabase

internal enum BillingSchema {
  internal struct InvoicesSelect: Codable, Hashable, Sendable {
    internal let account: UUID
    internal let id: Int32
    internal let parent: Int32?
    internal let product: Int32
    internal enum CodingKeys: String, CodingKey {
      case account = "account"
      case id = "id"
      case parent = "parent"
      case product = "product"
    }
  }
  internal struct InvoicesInsert: Codable, Hashable, Sendable {
    internal let account: UUID
    internal let id: Int32
    internal let parent: Int32?
    internal let product: Int32
    internal enum CodingKeys: String, CodingKey {
      case account = "account"
      case id = "id"
      case parent = "parent"
      case product = "product"
    }
  }
  internal struct InvoicesUpdate: Codable, Hashable, Sendable {
    internal let account: UUID?
    internal let id: Int32?
    internal let parent: Int32?
    internal let product: Int32?
    internal enum CodingKeys: String, CodingKey {
      case account = "account"
      case id = "id"
      case parent = "parent"
      case product = "product"
    }
  }
  internal struct AccountViewSelect: Codable, Hashable, Sendable {
    internal let id: UUID?
    internal let rank: Rank?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case rank = "rank"
    }
  }
}
internal enum CatalogSchema {
  internal enum Kind: String, Codable, Hashable, Sendable {
    case shoe = "shoe"
    case shirt = "shirt"
  }
  internal struct AccountsSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let product: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case product = "product"
    }
  }
  internal struct AccountsInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let product: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case product = "product"
    }
  }
  internal struct AccountsUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let product: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case product = "product"
    }
  }
  internal struct ProductsSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let kind: Kind
    internal let owner: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case kind = "kind"
      case owner = "owner"
    }
  }
  internal struct ProductsInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let kind: Kind?
    internal let owner: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case kind = "kind"
      case owner = "owner"
    }
  }
  internal struct ProductsUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let kind: Kind?
    internal let owner: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case kind = "kind"
      case owner = "owner"
    }
  }
}
internal enum EmptySchema {
}
internal enum OddSchemaSchema {
  internal struct OddTableSelect: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let invoice: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case invoice = "invoice"
    }
  }
  internal struct OddTableInsert: Codable, Hashable, Sendable {
    internal let id: Int32
    internal let invoice: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case invoice = "invoice"
    }
  }
  internal struct OddTableUpdate: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let invoice: Int32?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case invoice = "invoice"
    }
  }
}
internal enum PublicSchema {
  internal struct AccountsSelect: Codable, Hashable, Sendable {
    internal let code: String?
    internal let id: UUID
    internal let kind: Kind?
    internal let pair: PairSelect?
    internal let rank: Rank
    internal let ranks: [Rank]?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case id = "id"
      case kind = "kind"
      case pair = "pair"
      case rank = "rank"
      case ranks = "ranks"
    }
  }
  internal struct AccountsInsert: Codable, Hashable, Sendable {
    internal let code: String?
    internal let id: UUID
    internal let kind: Kind?
    internal let pair: PairSelect?
    internal let rank: Rank
    internal let ranks: [Rank]?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case id = "id"
      case kind = "kind"
      case pair = "pair"
      case rank = "rank"
      case ranks = "ranks"
    }
  }
  internal struct AccountsUpdate: Codable, Hashable, Sendable {
    internal let code: String?
    internal let id: UUID?
    internal let kind: Kind?
    internal let pair: PairSelect?
    internal let rank: Rank?
    internal let ranks: [Rank]?
    internal enum CodingKeys: String, CodingKey {
      case code = "code"
      case id = "id"
      case kind = "kind"
      case pair = "pair"
      case rank = "rank"
      case ranks = "ranks"
    }
  }
  internal struct ProductViewSelect: Codable, Hashable, Sendable {
    internal let id: Int32?
    internal let kind: Kind?
    internal let owner: UUID?
    internal enum CodingKeys: String, CodingKey {
      case id = "id"
      case kind = "kind"
      case owner = "owner"
    }
  }
}
