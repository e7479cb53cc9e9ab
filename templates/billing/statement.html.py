BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXX XXXXXXX
    BB BBB BBB
      XXXXX XXXXXXXXXXXX pgettext(u'state', u'Draft') XXXXXXX
    BBBBB
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXXX pgettext(u'button', u'Single jobs') XXXX
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBB BBB BBB BBBBBBBBB
      XXXXXXX XXXXXXXXXXX
         gettext(u'This statement differs from the one that was issued. Its hash does not match.') 
      XXXXXXXXX
    BBBBB
    XXXXXXXXX
      XXXX XXXXXXXXXXXXXX
        XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Total') X
                XXXXXXXX XX
        XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Usage') X
                XXXXXXXX XX
        BB BBBBBBBBBBBBBBBBBB
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Corrections') X
                  XXXXXXXX XX
        BBBBB
        BB BBBBBBBBBBBBBB
          XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Credits') X
                  XXXXXXXX XX
        BBBBB
      XXXXXX
    XXXXXXXXXX
    BB BBBBB
      XXXX XXXXXXXXXXXX XXXXXX
        XXXX XXXXXXXXXXXXXXXX
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXX
              XXXXXXX
                XXXX
                  XXXX pgettext(u'column', u'Team') XXXXX
                  XXXX pgettext(u'column, what a charge is for', u'For') XXXXX
                  XXXX pgettext(u'column', u'Resource') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Hours') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Price') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Discount') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Cost') XXXXX
                XXXXX
              XXXXXXXX
              XXXXXXX
                BBB BBBB BB BBBBB
                  XXXX
                    XXX XXXXXXXXXXXXXFFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXXXX pgettext(u'column, what a charge is for', u'For') XX
                      FFFFFFFFFF
                      BB BBBBBBBBBXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXBBBBB
                    XXXXX
                    XXX XXXXXXXXXXXX pgettext(u'column', u'Resource') XXFFFFFFFFFFFFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXX XXXXXXX
                        XXXXXXXXXXXX pgettext(u'column', u'Hours') XXFFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXX XXXXXXX
                        XXXXXXXXXXXX pgettext(u'column', u'Price') XXFFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXX XXXXXXX
                        XXXXXXXXXXXX pgettext(u'column', u'Discount') XXFFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXX XXXXXXX
                        XXXXXXXXXXXX pgettext(u'column', u'Cost') XXXXXXX
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
          XX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFXXXX
        XXXXXX
        XXXX XXXXXXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'heading', u'Teams') XX
            XXX XXXXXXXXXXXXXX
              BBB BBB BB BBBBB
                XXXX
                  BB BBBBBBBB
                    
                  BBBB
                     gettext(u'The whole organization') 
                  BBBBB
                XXXXX
                XXX XXXXXXXXXXXX
                  
                XXXXX
              BBBBBB
            XXXXX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
            XXX XXXXXXXXXXXXXX
              XXXX pgettext(u'name of a value', u'Period') XXXXX
              XXXX
                
              XXXXX
              XXXX pgettext(u'name of a value', u'Currency') XXXXX
              XXXX
                
              XXXXX
              XXXX pgettext(u'name of a value', u'Mode') XXXXX
              XXXX
                BB BBBBBBBBBBBBB BB BBBBBBBBBBBB
                   pgettext(u'value', u'Chargeback') 
                BBBB
                   pgettext(u'value', u'Showback') 
                BBBBB
              XXXXX
              BB BBB
                XXXX pgettext(u'name of a value', u'Issued') XXXXX
                XXXX
                  FFF X 
                XXXXX
                XXXXXXXXXXXXXXXX
                XXX XXXXXXXXXXX XXXXXXX
                  
                XXXXX
              BBBB
                XXXX pgettext(u'name of a value', u'State') XXXXX
                XXXX
                   gettext(u'Draft: not issued, and may change.') 
                   gettext(u'Running jobs are added when the day is over.') 
                XXXXX
              BBBBB
            XXXXX
          XXXXXXXXXX
        XXXXXX
      XXXXXX
    BBBB
       gettext(u'Nothing was used in this month') 
      XXXXXXXX XXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX XXXXXX
         gettext(u'Choose another month.') 
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBBB
