-- Whether a statistic has enough values to be shown. The function is made when dim_settings has been computed.
create temporary function enough(number_of_values bigint) returns boolean
    return number_of_values >= (select minimum_group from dim_settings);
