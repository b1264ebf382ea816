<?php
// WooCommerce, Proof by wallet: the settings, and a button that tries them.

declare(strict_types=1);

namespace Vidimus\WooCommerce;

use Vidimus\Vidimus;
use Vidimus\VidimusError;

defined('ABSPATH') || exit;

const CAPABILITY = 'manage_woocommerce';
const PAGE = 'vidimus';
/** The shortest that the service allows: the session of a test is erased at once. */
const TEST_SECONDS = 60;

add_action('admin_menu', function (): void {
    $title = __('Proof by wallet', 'vidimus-for-woocommerce');
    add_submenu_page('woocommerce', $title, $title, CAPABILITY, PAGE, __NAMESPACE__ . '\settings_page');
});

add_filter('plugin_action_links_' . plugin_basename(PLUGIN_FILE), function (array $links): array {
    array_unshift($links, '<a href="' . esc_url(page_url()) . '">' . esc_html__('Settings', 'vidimus-for-woocommerce') . '</a>');
    return $links;
});

function page_url(): string
{
    return admin_url('admin.php?page=' . PAGE);
}

add_action('admin_post_vidimus_save', function (): void {
    refuse_others('vidimus_save');
    $given = wp_unslash($_POST); // phpcs:ignore WordPress.Security.NonceVerification.Missing
    finish(save_settings(is_array($given) ? $given : []));
});

add_action('admin_post_vidimus_test', function (): void {
    refuse_others('vidimus_test');
    finish(is_ready() ? test_settings() : 'incomplete');
});

function refuse_others(string $action): void
{
    if (!current_user_can(CAPABILITY)) {
        wp_die(esc_html__('You may not change these settings.', 'vidimus-for-woocommerce'), '', ['response' => 403]);
    }
    check_admin_referer($action);
}

function finish(string $outcome): void
{
    wp_safe_redirect(add_query_arg('vidimus', $outcome, page_url()));
    exit;
}

/** Nothing is saved unless all of it is right. An empty key or secret keeps the one that is stored. */
function save_settings(array $given): string
{
    $text = static function (string $name) use ($given): string {
        return isset($given[$name]) && is_string($given[$name]) ? trim($given[$name]) : '';
    };
    $url = rtrim(esc_url_raw($text('url'), ['https', 'http']), '/');
    $known = settings();
    $key = $text('api_key') === '' ? $known['api_key'] : $text('api_key');
    $secret = $text('webhook_secret') === '' ? $known['webhook_secret'] : $text('webhook_secret');
    $categories = isset($given['categories']) && is_array($given['categories']) ? $given['categories'] : [];
    if (!is_safe_url($url)) {
        return 'bad_url';
    }
    if (!preg_match('/^vk_(test|live)_[A-Za-z0-9]{1,200}$/D', $key)) {
        return 'bad_key';
    }
    if ($secret !== '' && !preg_match('#^whsec_[A-Za-z0-9+/]{32,88}={0,2}$#D', $secret)) {
        return 'bad_secret';
    }
    if (!preg_match('/^[A-Za-z0-9_-]{1,64}$/D', $text('template'))) {
        return 'bad_template';
    }
    update_option(OPTION, [
        'url' => $url,
        'api_key' => $key,
        'webhook_secret' => $secret,
        'template' => $text('template'),
        'categories' => array_values(array_filter(array_map('absint', $categories))),
    ], false);
    return 'saved';
}

/** The key travels there: without TLS only on this machine, or in the private network of a shop that is marked as a test. */
function is_safe_url(string $url): bool
{
    if (!preg_match('#^(https?)://([^/?\#@\s]+)(/[^?\#\s]*)?$#D', $url, $parts) || !Vidimus::isSafe($url)) {
        return false;
    }
    $is_local = preg_match('/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/D', $parts[2]) === 1;
    return $parts[1] === 'https' || $is_local || wp_get_environment_type() !== 'production';
}

/** Creates a session, asks for it as a browser would on a page of this shop, and erases it. */
function test_settings(): string
{
    try {
        ['id' => $id] = client()->create(request_body(TEST_SECONDS));
        $answer = wp_remote_post(settings()['url'] . '/wallet/dc/request/' . rawurlencode($id), [
            'timeout' => CALL_SECONDS,
            'redirection' => 0,
            'headers' => ['Content-Type' => 'application/json', 'Origin' => shop_origin()],
            'body' => '{}',
        ]);
        client()->erase($id);
    } catch (VidimusError $error) {
        log_error($error);
        return $error->errorCode;
    }
    return wp_remote_retrieve_response_code($answer) === 403 ? 'origin_not_allowed' : 'works';
}

/** @return array{string, string} kind and text of the notice */
function outcome_notice(string $outcome): array
{
    $errors = [
        'incomplete' => __('Save the address and the API key first.', 'vidimus-for-woocommerce'),
        'bad_url' => __('Nothing was saved: the address of the service must begin with https://.', 'vidimus-for-woocommerce'),
        'bad_key' => __('Nothing was saved: an API key begins with vk_test_ or vk_live_. Copy all of it.', 'vidimus-for-woocommerce'),
        'bad_secret' => __('Nothing was saved: a webhook secret begins with whsec_. Copy all of it.', 'vidimus-for-woocommerce'),
        'bad_template' => __('Nothing was saved: a template has up to 64 letters, digits, _ and -.', 'vidimus-for-woocommerce'),
        'no_answer' => __('The service does not answer. Check its address, and that this server can reach it.', 'vidimus-for-woocommerce'),
        'unexpected_answer' => __('Something else answers at this address. Check it.', 'vidimus-for-woocommerce'),
        'invalid_api_key' => __('The service does not know this API key.', 'vidimus-for-woocommerce'),
        'api_key_expired' => __('This API key has expired.', 'vidimus-for-woocommerce'),
        'insufficient_scope' => __('The API key needs the scopes verifications:create, verifications:read and verifications:delete.', 'vidimus-for-woocommerce'),
        'unknown_template' => __('The service has no such template.', 'vidimus-for-woocommerce'),
        'invalid_webhook_url' => __('The service cannot send webhooks to this shop: its address is not public.', 'vidimus-for-woocommerce'),
        'quota_exceeded' => __('The daily quota of the service is used up.', 'vidimus-for-woocommerce'),
    ];
    if ($outcome === 'saved') {
        return ['success', __('Saved.', 'vidimus-for-woocommerce')];
    }
    if ($outcome === 'works') {
        return ['success', __('It works: a session was created and erased.', 'vidimus-for-woocommerce')];
    }
    if ($outcome === 'origin_not_allowed') {
        /* translators: %s: an origin, such as https://shop.example */
        return ['warning', sprintf(__('It works, but only by link: the service does not list the origin %s.', 'vidimus-for-woocommerce'), shop_origin())];
    }
    /* translators: %s: a code of the service, such as internal_error */
    return ['error', $errors[$outcome] ?? sprintf(__('The service refused: %s', 'vidimus-for-woocommerce'), $outcome)];
}

function settings_page(): void
{
    $settings = settings();
    $outcome = isset($_GET['vidimus']) && is_string($_GET['vidimus']) ? sanitize_key($_GET['vidimus']) : ''; // phpcs:ignore WordPress.Security
    echo '<div class="wrap"><h1>' . esc_html__('Proof by wallet', 'vidimus-for-woocommerce') . '</h1>';
    if ($outcome !== '') {
        [$kind, $text] = outcome_notice($outcome);
        notice($kind, $text);
    }
    if (is_test()) {
        notice('warning', __('The API key is a test key: anybody passes with the sandbox wallet. Use a live key in a shop that sells.', 'vidimus-for-woocommerce'));
    }
    form('vidimus_save');
    echo '<table class="form-table" role="presentation">';
    field('url', __('Address of the service', 'vidimus-for-woocommerce'), 'url', $settings['url'], 'https://verify.example');
    field('api_key', __('API key', 'vidimus-for-woocommerce'), 'password', '', stored($settings['api_key']));
    field('webhook_secret', __('Webhook secret (optional)', 'vidimus-for-woocommerce'), 'password', '', stored($settings['webhook_secret']));
    field('template', __('Template', 'vidimus-for-woocommerce'), 'text', $settings['template'], 'age_over_18');
    echo '<tr><th scope="row">' . esc_html__('Categories that need a proof', 'vidimus-for-woocommerce') . '</th><td><fieldset>';
    foreach (get_terms(['taxonomy' => 'product_cat', 'hide_empty' => false]) as $term) {
        $checked = in_array((int) $term->term_id, $settings['categories'], true) ? ' checked' : '';
        echo '<label><input type="checkbox" name="categories[]" value="' . esc_attr((string) $term->term_id) . "\"$checked> " . esc_html($term->name) . '</label><br>';
    }
    echo '<p class="description">' . esc_html__('Single products: product data, Advanced.', 'vidimus-for-woocommerce') . '</p></fieldset></td></tr>';
    shown(__('List this origin at the service', 'vidimus-for-woocommerce'), shop_origin());
    echo '</table><p class="submit"><button class="button button-primary">' . esc_html__('Save', 'vidimus-for-woocommerce') . '</button></p></form>';
    form('vidimus_test');
    echo '<p><button class="button">' . esc_html__('Test the settings', 'vidimus-for-woocommerce') . '</button> '
        . esc_html__('This creates one session and erases it.', 'vidimus-for-woocommerce') . '</p></form></div>';
}

function notice(string $kind, string $text): void
{
    echo '<div class="notice notice-' . esc_attr($kind) . '"><p>' . esc_html($text) . '</p></div>';
}

function form(string $action): void
{
    echo '<form method="post" action="' . esc_url(admin_url('admin-post.php')) . '"><input type="hidden" name="action" value="' . esc_attr($action) . '">';
    wp_nonce_field($action);
}

function field(string $name, string $label, string $type, string $value, string $placeholder): void
{
    echo '<tr><th scope="row"><label for="vidimus-' . esc_attr($name) . '">' . esc_html($label) . '</label></th><td><input class="regular-text" id="vidimus-'
        . esc_attr($name) . '" name="' . esc_attr($name) . '" type="' . esc_attr($type) . '" value="' . esc_attr($value) . '" placeholder="'
        . esc_attr($placeholder) . '" autocomplete="off"></td></tr>';
}

function shown(string $label, string $value): void
{
    echo '<tr><th scope="row">' . esc_html($label) . '</th><td><code>' . esc_html($value) . '</code></td></tr>';
}

function stored(string $secret): string
{
    return $secret === '' ? '' : __('stored; leave empty to keep', 'vidimus-for-woocommerce');
}
