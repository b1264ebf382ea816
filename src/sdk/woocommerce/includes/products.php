<?php
// Products that need a proof: by a box of the product, or by one of the categories in the settings.

declare(strict_types=1);

namespace Vidimus\WooCommerce;

defined('ABSPATH') || exit;

const PRODUCT_META = '_vidimus_needs_proof';

function cart_needs_proof(): bool
{
    foreach (WC()->cart ? WC()->cart->get_cart() : [] as $item) {
        // The product itself, or for a variation the product that it belongs to.
        if (product_needs_proof((int) $item['product_id'])) {
            return true;
        }
    }
    return false;
}

function product_needs_proof(int $product_id): bool
{
    $product = wc_get_product($product_id);
    // Subcategories count too.
    return ($product && $product->get_meta(PRODUCT_META) === 'yes')
        || array_intersect(settings()['categories'], wc_get_product_cat_ids($product_id)) !== [];
}

add_action('woocommerce_product_options_advanced', function (): void {
    woocommerce_wp_checkbox([
        'id' => PRODUCT_META,
        'label' => __('Proof by wallet', 'vidimus-for-woocommerce'),
        'description' => __('Sell this product only with a proof from the customer’s identity wallet', 'vidimus-for-woocommerce'),
    ]);
});

// WooCommerce has checked the nonce and the rights of this form.
add_action('woocommerce_admin_process_product_object', function ($product): void {
    $product->update_meta_data(PRODUCT_META, isset($_POST[PRODUCT_META]) ? 'yes' : 'no'); // phpcs:ignore WordPress.Security.NonceVerification.Missing
});
