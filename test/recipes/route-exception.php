<?php
// For wordpress.php: the exception by which the block checkout refuses an order.
namespace Automattic\WooCommerce\StoreApi\Exceptions;

final class RouteException extends \Exception
{
    public function __construct(public string $error_code, string $message, int $http_status_code) { parent::__construct($message, $http_status_code); }
}
