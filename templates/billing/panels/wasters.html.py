BBBB BBBB BBBBBB
 #

BB BBBBBBBBB
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXXXX
      XXXXXXX
        XXXX
          XXXX pgettext(u'column', u'Job') XXXXX
          XXXX pgettext(u'column', u'Owner') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'GPUs') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'Utilization') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column, not working', u'Idle') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column, GPUs that wait', u'Waiting') XXXXX
          XXX XXXXXXXXXXXX pgettext(u'column', u'Worth') XXXXX
          XXXX pgettext(u'column', u'What to do') XXXXX
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB BBB BB BBBBBBBBB
          XXX XXXXXXXXXXXXX
            XXX XXXXXXXXXXX XXXXXX
              XX XXXXXXXXXXXXX XXXXXXXXX XXXX
            XXXXX
            XXX XXXXXXXXXXXX XXXXXXXXXXXX pgettext(u'column', u'Owner') XX
              
              BB BBBBBBBBBBBBBBBBXXXXX XXXXXXXXXXXXXXXXXXXXXBBBBB
            XXXXX
            XXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'GPUs') XX FFFFFFFFFFXXXXX
            XXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'Utilization') XXFFFFFFFXXXXX
            XXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXXX pgettext(u'column, not working', u'Idle') XXFFFFFFFFFFFFFFFF XXXXXX
            XXX XXXXXXXXXXX
                XXXXXXXXXXXX pgettext(u'column, GPUs that wait', u'Waiting') XXFFFFFFFFFFFFFFFF XXXXXX
            XXX XXXXXXXXXX XXXXXXX
                XXXXXXXXXXXX pgettext(u'column', u'Worth') XXFFFFFFFFFFFXXXXX
            XXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXXX
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
BBBB
  XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No measured job wasted GPU time.') XXXX
BBBBB
