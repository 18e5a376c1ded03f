export type Json =
  | string
  | number
  | boolean
  | null
  | { [key: string]: Json | undefined }
  | Json[]

export type Database = {
  public: {
    Tables: {
      blocks: {
        Row: {
          blocked_id: string
          blocker_id: string
          created_at: string
        }
        Insert: {
          blocked_id: string
          blocker_id?: string
          created_at?: string
        }
        Update: {
          blocked_id?: string
          blocker_id?: string
          created_at?: string
        }
        Relationships: [
          {
            foreignKeyName: "blocks_blocked_id_fkey"
            columns: ["blocked_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "blocks_blocker_id_fkey"
            columns: ["blocker_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      bookmarks: {
        Row: {
          combine_id: string
          created_at: string
          id: string
          user_id: string
        }
        Insert: {
          combine_id: string
          created_at?: string
          id?: string
          user_id?: string
        }
        Update: {
          combine_id?: string
          created_at?: string
          id?: string
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "bookmarks_combine_id_fkey"
            columns: ["combine_id"]
            isOneToOne: false
            referencedRelation: "combines"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "bookmarks_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      brands: {
        Row: {
          created_at: string
          description: string | null
          id: string
          logo: string | null
          meta_description: string | null
          name: string
          updated_at: string
          version: number
        }
        Insert: {
          created_at?: string
          description?: string | null
          id?: string
          logo?: string | null
          meta_description?: string | null
          name: string
          updated_at?: string
          version?: number
        }
        Update: {
          created_at?: string
          description?: string | null
          id?: string
          logo?: string | null
          meta_description?: string | null
          name?: string
          updated_at?: string
          version?: number
        }
        Relationships: []
      }
      categories: {
        Row: {
          created_at: string
          icon: string | null
          id: string
          name: string
          version: number
        }
        Insert: {
          created_at?: string
          icon?: string | null
          id?: string
          name: string
          version?: number
        }
        Update: {
          created_at?: string
          icon?: string | null
          id?: string
          name?: string
          version?: number
        }
        Relationships: []
      }
      collected_outfits: {
        Row: {
          collection_id: string
          combine_id: string
          created_at: string
          user_id: string
        }
        Insert: {
          collection_id: string
          combine_id: string
          created_at?: string
          user_id?: string
        }
        Update: {
          collection_id?: string
          combine_id?: string
          created_at?: string
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "collected_outfits_collection_id_user_id_fkey"
            columns: ["collection_id", "user_id"]
            isOneToOne: false
            referencedRelation: "collections"
            referencedColumns: ["id", "user_id"]
          },
          {
            foreignKeyName: "collected_outfits_user_id_combine_id_fkey"
            columns: ["user_id", "combine_id"]
            isOneToOne: false
            referencedRelation: "bookmarks"
            referencedColumns: ["user_id", "combine_id"]
          },
        ]
      }
      collections: {
        Row: {
          created_at: string
          id: string
          is_shared: boolean
          name: string
          user_id: string
        }
        Insert: {
          created_at?: string
          id?: string
          is_shared?: boolean
          name: string
          user_id?: string
        }
        Update: {
          created_at?: string
          id?: string
          is_shared?: boolean
          name?: string
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "collections_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      colors: {
        Row: {
          created_at: string
          description: string | null
          hex_code: string
          id: string
          meta_description: string | null
          name: string
          version: number
        }
        Insert: {
          created_at?: string
          description?: string | null
          hex_code: string
          id?: string
          meta_description?: string | null
          name: string
          version?: number
        }
        Update: {
          created_at?: string
          description?: string | null
          hex_code?: string
          id?: string
          meta_description?: string | null
          name?: string
          version?: number
        }
        Relationships: []
      }
      combine_reviews: {
        Row: {
          colors: string[]
          combine_id: string
          decided_at: string
          decided_by: string | null
          decision: string
          description: string | null
          gender: string
          id: string
          item_ids: string[]
          main_image: string | null
          name: string
          outfit_styles: string[]
          reason: string | null
        }
        Insert: {
          colors: string[]
          combine_id: string
          decided_at?: string
          decided_by?: string | null
          decision: string
          description?: string | null
          gender: string
          id?: string
          item_ids: string[]
          main_image?: string | null
          name: string
          outfit_styles: string[]
          reason?: string | null
        }
        Update: {
          colors?: string[]
          combine_id?: string
          decided_at?: string
          decided_by?: string | null
          decision?: string
          description?: string | null
          gender?: string
          id?: string
          item_ids?: string[]
          main_image?: string | null
          name?: string
          outfit_styles?: string[]
          reason?: string | null
        }
        Relationships: [
          {
            foreignKeyName: "combine_reviews_combine_id_fkey"
            columns: ["combine_id"]
            isOneToOne: false
            referencedRelation: "combines"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "combine_reviews_decided_by_fkey"
            columns: ["decided_by"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      combines: {
        Row: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }
        Insert: {
          approved_at?: string | null
          approved_by?: string | null
          colors?: string[]
          created_at?: string
          created_by_admin?: boolean
          description?: string | null
          gender?: string
          id?: string
          image_alt?: string | null
          item_ids?: string[]
          main_image?: string | null
          main_image_color?: string | null
          meta_description?: string | null
          name: string
          outfit_styles?: string[]
          rejection_reason?: string | null
          slug?: string
          status?: string
          updated_at?: string
          user_id?: string | null
          version?: number
        }
        Update: {
          approved_at?: string | null
          approved_by?: string | null
          colors?: string[]
          created_at?: string
          created_by_admin?: boolean
          description?: string | null
          gender?: string
          id?: string
          image_alt?: string | null
          item_ids?: string[]
          main_image?: string | null
          main_image_color?: string | null
          meta_description?: string | null
          name?: string
          outfit_styles?: string[]
          rejection_reason?: string | null
          slug?: string
          status?: string
          updated_at?: string
          user_id?: string | null
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: "combines_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      follows: {
        Row: {
          created_at: string
          followed_id: string
          follower_id: string
        }
        Insert: {
          created_at?: string
          followed_id: string
          follower_id?: string
        }
        Update: {
          created_at?: string
          followed_id?: string
          follower_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "follows_followed_id_fkey"
            columns: ["followed_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "follows_follower_id_fkey"
            columns: ["follower_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      generated_pictures: {
        Row: {
          attempts: number
          callback_token_hash: string | null
          combine_id: string | null
          created_at: string
          error: string | null
          finished_at: string | null
          id: string
          input: Json
          lease_until: string | null
          max_attempts: number
          progress: number
          result_bucket: string
          result_folder: string
          result_is_preview: boolean | null
          result_name: string | null
          run_after: string
          started_at: string | null
          status: string
          title: string
          updated_at: string
          user_id: string
        }
        Insert: {
          attempts?: number
          callback_token_hash?: string | null
          combine_id?: string | null
          created_at?: string
          error?: string | null
          finished_at?: string | null
          id?: string
          input: Json
          lease_until?: string | null
          max_attempts?: number
          progress?: number
          result_bucket: string
          result_folder: string
          result_is_preview?: boolean | null
          result_name?: string | null
          run_after?: string
          started_at?: string | null
          status?: string
          title: string
          updated_at?: string
          user_id: string
        }
        Update: {
          attempts?: number
          callback_token_hash?: string | null
          combine_id?: string | null
          created_at?: string
          error?: string | null
          finished_at?: string | null
          id?: string
          input?: Json
          lease_until?: string | null
          max_attempts?: number
          progress?: number
          result_bucket?: string
          result_folder?: string
          result_is_preview?: boolean | null
          result_name?: string | null
          run_after?: string
          started_at?: string | null
          status?: string
          title?: string
          updated_at?: string
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "generated_pictures_combine_id_fkey"
            columns: ["combine_id"]
            isOneToOne: false
            referencedRelation: "combines"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "generated_pictures_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      items: {
        Row: {
          brand_id: string
          category: string | null
          colors: string[]
          created_at: string
          description: string | null
          gender: string
          id: string
          image: string | null
          image_color: string | null
          meta_description: string | null
          name: string
          price: number
          product_id: number | null
          slug: string
          source_url: string | null
          subcategory_id: string | null
          updated_at: string
          version: number
        }
        Insert: {
          brand_id: string
          category?: string | null
          colors?: string[]
          created_at?: string
          description?: string | null
          gender?: string
          id?: string
          image?: string | null
          image_color?: string | null
          meta_description?: string | null
          name: string
          price?: number
          product_id?: number | null
          slug?: string
          source_url?: string | null
          subcategory_id?: string | null
          updated_at?: string
          version?: number
        }
        Update: {
          brand_id?: string
          category?: string | null
          colors?: string[]
          created_at?: string
          description?: string | null
          gender?: string
          id?: string
          image?: string | null
          image_color?: string | null
          meta_description?: string | null
          name?: string
          price?: number
          product_id?: number | null
          slug?: string
          source_url?: string | null
          subcategory_id?: string | null
          updated_at?: string
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: "items_brand_id_fkey"
            columns: ["brand_id"]
            isOneToOne: false
            referencedRelation: "brands"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "items_category_fkey"
            columns: ["category"]
            isOneToOne: false
            referencedRelation: "categories"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "items_subcategory_id_fkey"
            columns: ["subcategory_id"]
            isOneToOne: false
            referencedRelation: "subcategories"
            referencedColumns: ["id"]
          },
        ]
      }
      like_counts: {
        Row: {
          combine_id: string
          likes: number
        }
        Insert: {
          combine_id: string
          likes?: number
        }
        Update: {
          combine_id?: string
          likes?: number
        }
        Relationships: [
          {
            foreignKeyName: "like_counts_combine_id_fkey"
            columns: ["combine_id"]
            isOneToOne: true
            referencedRelation: "combines"
            referencedColumns: ["id"]
          },
        ]
      }
      liked_styles: {
        Row: {
          created_at: string
          style_id: string
          user_id: string
        }
        Insert: {
          created_at?: string
          style_id: string
          user_id?: string
        }
        Update: {
          created_at?: string
          style_id?: string
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "liked_styles_style_id_fkey"
            columns: ["style_id"]
            isOneToOne: false
            referencedRelation: "outfit_styles"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "liked_styles_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      likes: {
        Row: {
          combine_id: string | null
          created_at: string
          id: string
          product_id: string | null
          user_id: string
        }
        Insert: {
          combine_id?: string | null
          created_at?: string
          id?: string
          product_id?: string | null
          user_id?: string
        }
        Update: {
          combine_id?: string | null
          created_at?: string
          id?: string
          product_id?: string | null
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "likes_combine_id_fkey"
            columns: ["combine_id"]
            isOneToOne: false
            referencedRelation: "combines"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "likes_product_id_fkey"
            columns: ["product_id"]
            isOneToOne: false
            referencedRelation: "items"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "likes_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      mail_settings: {
        Row: {
          created_at: string
          notices: boolean
          user_id: string
        }
        Insert: {
          created_at?: string
          notices: boolean
          user_id?: string
        }
        Update: {
          created_at?: string
          notices?: boolean
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "mail_settings_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: true
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      notifications: {
        Row: {
          actor_id: string | null
          combine_id: string | null
          created_at: string
          id: string
          kind: string
          read_at: string | null
          reason: string | null
          user_id: string
        }
        Insert: {
          actor_id?: string | null
          combine_id?: string | null
          created_at?: string
          id?: string
          kind: string
          read_at?: string | null
          reason?: string | null
          user_id: string
        }
        Update: {
          actor_id?: string | null
          combine_id?: string | null
          created_at?: string
          id?: string
          kind?: string
          read_at?: string | null
          reason?: string | null
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "notifications_actor_id_fkey"
            columns: ["actor_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "notifications_combine_id_fkey"
            columns: ["combine_id"]
            isOneToOne: false
            referencedRelation: "combines"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "notifications_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      outfit_styles: {
        Row: {
          created_at: string
          description: string | null
          id: string
          image: string | null
          meta_description: string | null
          name: string
          version: number
        }
        Insert: {
          created_at?: string
          description?: string | null
          id?: string
          image?: string | null
          meta_description?: string | null
          name?: string
          version?: number
        }
        Update: {
          created_at?: string
          description?: string | null
          id?: string
          image?: string | null
          meta_description?: string | null
          name?: string
          version?: number
        }
        Relationships: []
      }
      profiles: {
        Row: {
          avatar_url: string | null
          bio: string | null
          created_at: string
          full_name: string | null
          id: string
          instagram_url: string | null
          role: string
          twitter_url: string | null
          updated_at: string
          username: string | null
          version: number
          website_url: string | null
        }
        Insert: {
          avatar_url?: string | null
          bio?: string | null
          created_at?: string
          full_name?: string | null
          id: string
          instagram_url?: string | null
          role?: string
          twitter_url?: string | null
          updated_at?: string
          username?: string | null
          version?: number
          website_url?: string | null
        }
        Update: {
          avatar_url?: string | null
          bio?: string | null
          created_at?: string
          full_name?: string | null
          id?: string
          instagram_url?: string | null
          role?: string
          twitter_url?: string | null
          updated_at?: string
          username?: string | null
          version?: number
          website_url?: string | null
        }
        Relationships: []
      }
      reports: {
        Row: {
          combine_id: string | null
          created_at: string
          decided_at: string | null
          decided_by: string | null
          id: string
          note: string | null
          profile_id: string | null
          reason: string
          reporter_id: string
          state: string
        }
        Insert: {
          combine_id?: string | null
          created_at?: string
          decided_at?: string | null
          decided_by?: string | null
          id?: string
          note?: string | null
          profile_id?: string | null
          reason: string
          reporter_id?: string
          state?: string
        }
        Update: {
          combine_id?: string | null
          created_at?: string
          decided_at?: string | null
          decided_by?: string | null
          id?: string
          note?: string | null
          profile_id?: string | null
          reason?: string
          reporter_id?: string
          state?: string
        }
        Relationships: [
          {
            foreignKeyName: "reports_combine_id_fkey"
            columns: ["combine_id"]
            isOneToOne: false
            referencedRelation: "combines"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "reports_decided_by_fkey"
            columns: ["decided_by"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "reports_profile_id_fkey"
            columns: ["profile_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
          {
            foreignKeyName: "reports_reporter_id_fkey"
            columns: ["reporter_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
      site_settings: {
        Row: {
          id: boolean
          registration_open: boolean
          review_required: boolean
          site_name: string
          updated_at: string
          version: number
        }
        Insert: {
          id?: boolean
          registration_open?: boolean
          review_required?: boolean
          site_name?: string
          updated_at?: string
          version?: number
        }
        Update: {
          id?: boolean
          registration_open?: boolean
          review_required?: boolean
          site_name?: string
          updated_at?: string
          version?: number
        }
        Relationships: []
      }
      styles: {
        Row: {
          created_at: string
          description: string | null
          id: string
          image: string | null
          meta_description: string | null
          name: string
          version: number
        }
        Insert: {
          created_at?: string
          description?: string | null
          id?: string
          image?: string | null
          meta_description?: string | null
          name: string
          version?: number
        }
        Update: {
          created_at?: string
          description?: string | null
          id?: string
          image?: string | null
          meta_description?: string | null
          name?: string
          version?: number
        }
        Relationships: []
      }
      subcategories: {
        Row: {
          category_id: string
          created_at: string
          id: string
          name: string
          version: number
        }
        Insert: {
          category_id: string
          created_at?: string
          id?: string
          name: string
          version?: number
        }
        Update: {
          category_id?: string
          created_at?: string
          id?: string
          name?: string
          version?: number
        }
        Relationships: [
          {
            foreignKeyName: "subcategories_category_id_fkey"
            columns: ["category_id"]
            isOneToOne: false
            referencedRelation: "categories"
            referencedColumns: ["id"]
          },
        ]
      }
      user_training_images: {
        Row: {
          image_order: number
          image_url: string
          updated_at: string
          user_id: string
        }
        Insert: {
          image_order: number
          image_url: string
          updated_at?: string
          user_id?: string
        }
        Update: {
          image_order?: number
          image_url?: string
          updated_at?: string
          user_id?: string
        }
        Relationships: [
          {
            foreignKeyName: "user_training_images_user_id_fkey"
            columns: ["user_id"]
            isOneToOne: false
            referencedRelation: "profiles"
            referencedColumns: ["id"]
          },
        ]
      }
    }
    Views: {
      [_ in never]: never
    }
    Functions: {
      admin_figures: { Args: never; Returns: Json }
      admin_overview: { Args: never; Returns: Json }
      cancel_generated_picture: {
        Args: { picture_id: string }
        Returns: undefined
      }
      change_review: {
        Args: {
          approve: boolean
          combine_id: string
          reason?: string
          seen?: string
        }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: true
          isSetofReturn: false
        }
      }
      check_product_import: {
        Args: { brand?: string; product_id: number; source_url: string }
        Returns: Json
      }
      count_found: {
        Args: {
          brands?: string[]
          categories?: string[]
          colors?: string[]
          genders?: string[]
          max_price?: number
          min_price?: number
          styles?: string[]
          term?: string
        }
        Returns: {
          items: number
          outfits: number
        }[]
      }
      count_wearing: { Args: { ids: string[] }; Returns: number }
      delete_items: { Args: { ids: string[] }; Returns: number }
      delete_my_account: { Args: { confirmation: string }; Returns: undefined }
      edit_items: {
        Args: {
          add_colors?: string[]
          brand?: string
          category?: string
          gender?: string
          ids: string[]
          price?: number
          versions?: number[]
        }
        Returns: string[]
      }
      export_my_data: { Args: never; Returns: Json }
      followed_outfits: {
        Args: { max_results?: number; page_offset?: number }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      frequent_words: {
        Args: { max_results?: number }
        Returns: {
          hex_code: string
          kind: string
          name: string
        }[]
      }
      import_rows: {
        Args: { entries: Json; target: string }
        Returns: {
          error: string
          place: number
          stored_name: string
          was_there: boolean
        }[]
      }
      is_admin_role: { Args: never; Returns: boolean }
      list_outfits: {
        Args: {
          ascending?: boolean
          creator?: string
          max_results?: number
          outfit_gender?: string
          outfit_id?: string
          page_offset?: number
          review_status?: string
          sort?: string
          term?: string
        }
        Returns: {
          colors: string[]
          created_at: string
          created_by_admin: boolean
          creator_full_name: string
          creator_username: string
          description: string
          gender: string
          id: string
          image_alt: string
          item_ids: string[]
          main_image: string
          meta_description: string
          name: string
          outfit_styles: string[]
          rejection_reason: string
          slug: string
          status: string
          total: number
          updated_at: string
          user_id: string
          version: number
        }[]
      }
      list_users: {
        Args: {
          max_results?: number
          page_offset?: number
          term?: string
          with_role?: string
        }
        Returns: {
          avatar_url: string
          created_at: string
          email: string
          full_name: string
          id: string
          role: string
          total: number
          username: string
        }[]
      }
      outfit_saves: { Args: { outfit_id: string }; Returns: number }
      outfits_with_brand: {
        Args: { brand_id: string }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      outfits_with_item: {
        Args: { item_id: string }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      page_meta: { Args: { path: string }; Returns: Json }
      picture_is_used: { Args: { url: string }; Returns: boolean }
      product_number: {
        Args: { item: Database["public"]["Tables"]["items"]["Row"] }
        Returns: string
      }
      profile_by_username: {
        Args: { name: string }
        Returns: {
          avatar_url: string | null
          bio: string | null
          created_at: string
          full_name: string | null
          id: string
          instagram_url: string | null
          role: string
          twitter_url: string | null
          updated_at: string
          username: string | null
          version: number
          website_url: string | null
        }
        SetofOptions: {
          from: "*"
          to: "profiles"
          isOneToOne: true
          isSetofReturn: true
        }
      }
      profile_numbers: {
        Args: { profile_id: string }
        Returns: {
          followers: number
          following: number
          likes: number
          outfits: number
        }[]
      }
      related_outfits: {
        Args: { max_results?: number; outfit_id: string }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      request_generated_picture: {
        Args: { outfit_id: string }
        Returns: string
      }
      reserved_usernames: { Args: never; Returns: string[] }
      retry_generated_picture: {
        Args: { picture_id: string }
        Returns: undefined
      }
      review_combine: {
        Args: {
          approve: boolean
          combine_id: string
          reason?: string
          seen?: string
        }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: true
          isSetofReturn: false
        }
      }
      review_combines: {
        Args: { decisions: Json }
        Returns: {
          combine_id: string
          error: string
        }[]
      }
      search_items: {
        Args: {
          brands?: string[]
          categories?: string[]
          colors?: string[]
          genders?: string[]
          max_price?: number
          max_results?: number
          min_price?: number
          page_offset?: number
          term?: string
        }
        Returns: {
          brand_id: string
          category: string | null
          colors: string[]
          created_at: string
          description: string | null
          gender: string
          id: string
          image: string | null
          image_color: string | null
          meta_description: string | null
          name: string
          price: number
          product_id: number | null
          slug: string
          source_url: string | null
          subcategory_id: string | null
          updated_at: string
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "items"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      search_outfits: {
        Args: {
          brands?: string[]
          categories?: string[]
          colors?: string[]
          genders?: string[]
          max_price?: number
          max_results?: number
          min_price?: number
          page_offset?: number
          styles?: string[]
          term?: string
        }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      set_outfit_listed: {
        Args: { listed: boolean; outfit_id: string }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: true
          isSetofReturn: false
        }
      }
      set_user_role: {
        Args: { new_role: string; user_id: string }
        Returns: {
          avatar_url: string | null
          bio: string | null
          created_at: string
          full_name: string | null
          id: string
          instagram_url: string | null
          role: string
          twitter_url: string | null
          updated_at: string
          username: string | null
          version: number
          website_url: string | null
        }
        SetofOptions: {
          from: "*"
          to: "profiles"
          isOneToOne: true
          isSetofReturn: false
        }
      }
      set_user_role_by_email: {
        Args: { new_role: string; user_email: string }
        Returns: {
          avatar_url: string | null
          bio: string | null
          created_at: string
          full_name: string | null
          id: string
          instagram_url: string | null
          role: string
          twitter_url: string | null
          updated_at: string
          username: string | null
          version: number
          website_url: string | null
        }
        SetofOptions: {
          from: "*"
          to: "profiles"
          isOneToOne: true
          isSetofReturn: false
        }
      }
      shared_collection: {
        Args: { collection_id: string }
        Returns: {
          full_name: string
          id: string
          is_own: boolean
          name: string
          username: string
        }[]
      }
      shared_collection_outfits: {
        Args: {
          collection_id: string
          max_results?: number
          page_offset?: number
        }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      storage_orphans: {
        Args: { max_results?: number; min_age?: string }
        Returns: {
          bucket: string
          bytes: number
          created_at: string
          path: string
          total: number
          total_bytes: number
        }[]
      }
      suggested_outfits: {
        Args: { liked_id: string; max_results?: number }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      top_outfits: {
        Args: { max_results?: number; since?: string }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      unlisted_link: { Args: { outfit_id: string }; Returns: string }
      unlisted_outfit: {
        Args: { link: string }
        Returns: {
          approved_at: string | null
          approved_by: string | null
          colors: string[]
          created_at: string
          created_by_admin: boolean
          description: string | null
          gender: string
          id: string
          image_alt: string | null
          item_ids: string[]
          main_image: string | null
          main_image_color: string | null
          meta_description: string | null
          name: string
          outfit_styles: string[]
          rejection_reason: string | null
          slug: string
          status: string
          updated_at: string
          user_id: string | null
          version: number
        }[]
        SetofOptions: {
          from: "*"
          to: "combines"
          isOneToOne: false
          isSetofReturn: true
        }
      }
      username_available: { Args: { candidate: string }; Returns: boolean }
      withdraw_reviews: { Args: { combine_ids: string[] }; Returns: string[] }
    }
    Enums: {
      [_ in never]: never
    }
    CompositeTypes: {
      [_ in never]: never
    }
  }
}

type DatabaseWithoutInternals = Omit<Database, "__InternalSupabase">

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, "public">]

export type Tables<
  DefaultSchemaTableNameOrOptions extends
    | keyof (DefaultSchema["Tables"] & DefaultSchema["Views"])
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
        DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])
    : never = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? (DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"] &
      DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Views"])[TableName] extends {
      Row: infer R
    }
    ? R
    : never
  : DefaultSchemaTableNameOrOptions extends keyof (DefaultSchema["Tables"] &
        DefaultSchema["Views"])
    ? (DefaultSchema["Tables"] &
        DefaultSchema["Views"])[DefaultSchemaTableNameOrOptions] extends {
        Row: infer R
      }
      ? R
      : never
    : never

export type TablesInsert<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Insert: infer I
    }
    ? I
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Insert: infer I
      }
      ? I
      : never
    : never

export type TablesUpdate<
  DefaultSchemaTableNameOrOptions extends
    | keyof DefaultSchema["Tables"]
    | { schema: keyof DatabaseWithoutInternals },
  TableName extends DefaultSchemaTableNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"]
    : never = never,
> = DefaultSchemaTableNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaTableNameOrOptions["schema"]]["Tables"][TableName] extends {
      Update: infer U
    }
    ? U
    : never
  : DefaultSchemaTableNameOrOptions extends keyof DefaultSchema["Tables"]
    ? DefaultSchema["Tables"][DefaultSchemaTableNameOrOptions] extends {
        Update: infer U
      }
      ? U
      : never
    : never

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema["Enums"]
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"]
    : never = never,
> = DefaultSchemaEnumNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema["Enums"]
    ? DefaultSchema["Enums"][DefaultSchemaEnumNameOrOptions]
    : never

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema["CompositeTypes"]
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals
  }
    ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"]
    : never = never,
> = PublicCompositeTypeNameOrOptions extends {
  schema: keyof DatabaseWithoutInternals
}
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"][CompositeTypeName]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema["CompositeTypes"]
    ? DefaultSchema["CompositeTypes"][PublicCompositeTypeNameOrOptions]
    : never

export const Constants = {
  public: {
    Enums: {},
  },
} as const

