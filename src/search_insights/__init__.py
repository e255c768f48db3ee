"""Publish what people search for, region by region and week by week, without revealing any one of them."""
