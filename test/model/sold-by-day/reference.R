# Computes <case>.expected.csv beside each <case>.csv, by the R packages etm (Aalen-Johansen with left truncation, Greenwood's
# variance) and survival. The tests read the files; to make them again: Rscript test/model/sold-by-day/reference.R
#
# <case>.csv has a lot a row: the day on which the feed created it, and the day on which it was sold or left, as days since
# the first whole day of the watch, which has 70 days. A lot is watched on the days that lie in the watch.
suppressMessages({ library(etm); library(survival) })
last_day <- 69
least <- 5
folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))

# The 95 % interval on the scale log(-log(share)).
ends <- function(share, variance) {
  if (share < 1e-9 || share > 1 - 1e-9) return(c(NA, NA))
  error <- qnorm(0.975) * sqrt(variance) / (share * abs(log(share)))
  c(share^exp(error), share^exp(-error))
}

for (file in list.files(folder, "^[a-z-]+[.]csv$", full.names = TRUE)) {
  lots <- read.csv(file)
  ended <- pmin(lots$sold, lots$left, na.rm = TRUE)
  seen <- !is.na(ended) & ended <= last_day
  first <- pmax(0, -lots$created)
  last <- ifelse(seen, ended, last_day) - lots$created
  to <- ifelse(!seen, "cens", ifelse(!is.na(lots$sold), "sold", "left"))
  watched <- last >= first
  # etm and survival watch a lot after its entry, up to and with its exit: age a is the interval from a to a + 1.
  lives <- data.frame(id = seq_along(first), from = "open", to = to, entry = first, exit = last + 1)[watched, ]
  # From open to sold or left.
  steps <- matrix(FALSE, 3, 3, dimnames = list(c("open", "sold", "left"), c("open", "sold", "left")))
  steps["open", c("sold", "left")] <- TRUE
  estimate <- etm(lives, c("open", "sold", "left"), steps, "cens", s = 0)
  either <- survfit(Surv(entry, exit, to != "cens") ~ 1, data = lives)
  at_risk <- sapply(0:180, function(age) sum(lives$entry <= age & age < lives$exit))
  rows <- lapply(c(7, 14, 30, 60, 90, 180), function(day) {
    over <- either$time[either$surv < 1e-12]
    reached <- all(at_risk[seq_len(min(c(day, over - 1)) + 1)] >= least)
    if (!reached) return(data.frame(day, sold = NA, sold_low = NA, sold_high = NA, left_unsold = NA, left_unsold_low = NA,
      left_unsold_high = NA, sold_at_most = NA, sold_at_most_low = NA, sold_at_most_high = NA))
    k <- max(c(0, which(estimate$time <= day + 1)))
    at <- function(what) if (k == 0) 0 else estimate$est["open", what, k]
    variance <- function(what) if (k == 0) 0 else estimate$cov[paste("open", what), paste("open", what), k]
    sold <- ends(at("sold"), variance("sold"))
    left <- ends(at("left"), variance("left"))
    open <- summary(either, times = day + 1, extend = TRUE)
    gone <- ends(1 - open$surv, open$std.err^2)
    data.frame(day, sold = at("sold"), sold_low = sold[1], sold_high = sold[2], left_unsold = at("left"),
      left_unsold_low = left[1], left_unsold_high = left[2], sold_at_most = 1 - open$surv,
      sold_at_most_low = gone[1], sold_at_most_high = gone[2])
  })
  write.csv(signif(do.call(rbind, rows), 12), sub("[.]csv$", ".expected.csv", file), row.names = FALSE, na = "")
}
