BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBXX
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u"What GPUs, CPUs, memory and storage cost, at each day's price less discounts.") 
  XXXXXXX XXXXXXX pgettext(u'page title', u'Cost') X XXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      BB BBBBBBBBBB
        XXXXXXX XXXXXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Set budget') XXXXXXXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  BBBBBBB BBBBBBBBBBBBBBBBBBBB
  XXXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXXXXXX
         XXXXXXXXXXXX pgettext(u'spoken label', u'Month') XX
      BBB BBBBBB BB B BB BBBBBB
        XX XXXXXXXXXX XXXXX XXXXXX XXXXXXBBBBB BBBBBBB BBBBBB BBBBBBBBBXXXXXX
      BBBBBB
    XXXXXX
    XXXXXX XXXXXXXXXX XXXXXXX
      XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'field', u'From') XXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFFFXX
    XXXXXXXX
    XXXXXX XXXXXXXXXX XXXXXXX
      XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'field', u'Until') XXXXXXX
      XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXFFFFFFFFFFFFXX
    XXXXXXXX
    BB BBBBBBBBBBBB B B
      XXXXXXX XXXXXXXXXXX
              XXXXXXXXXXXX pgettext(u'spoken label', u'Team') XX
        XXXXXXX XXXXXXXXX pgettext(u'choice', u'All teams') XXXXXXXXX
        BBB BBB BB BBBBB
          XXXXXXX XXXXXXXX BB BBBBBBBB BB BBBBXXXXXXXXBBBBBXXXXXXXXXX
        BBBBBB
      XXXXXXXXX
    BBBBB
    XXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'button', u'Apply') XXXXXXXXX
  XXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBB BBBBBBBBBBBBBBBBBBB
      XXXXXXXX
         gettext(u'There are no prices in %(currency)s yet, so only hours are shown. An operator sets prices.') 
          SSSSS SSS SS SSSSSS SS SSSSSSSSSSSS SSSS SS SSSS SSSSS SSS SSSSSS SS SSSSSSSS SSSS SSSSSSS
        
      XXXXXXXXX
    BBBBB
    XXXXXXXXX
      XXXX XXXXXXXXXXXXXX
        XXXXXXX XXXXXXX pgettext(u'name of a figure', u'Cost') X
                XXXXXXXX XX
        BB BBBBBBBB
          XXXXXXX XXXXXXX gettext(u'Forecast for the month') X
                  XXXXXXXXX
            XXXXX XXXXXXXXXXXXXXXXXX
               pgettext(u'text, billing', u'until %(day)s') 
                SSSSS SSSSSSS
              
            XXXXXXX
          XXXXXXXXX
        BBBBB
        XXXXXXX XXXXXXX pgettext(u'name of a figure', u'GPU-hours') X
                XXXXXXXFFFFFX XX
      XXXXXX
    XXXXXXXXXX
    BB BBBBBBB
      XXXXXXXX XXXXXXX gettext(u'Budgets of this month') XX
        BBB BBB BB BBBBBBB
          XXXX XXXXXXXXXX XXXXXXX XXXXXXXX
            XXXXXXXX XXXXXXXX
                     XXXXXXXX
                     XXXXXXXXX
                     XXXXXXXXX
               pgettext(u'text, billing', u'%(spent)s of %(amount)s (%(n)s%%)') 
                SSSSSSSSS SS SSSSSSSSSS SSSSSSSSS
              
              BB BBBBBBBBB
                XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'text, billing', u'stops new jobs') XXXXXXX
              BBBBB
            XXXXXXXXXX
            BB BBBBBBBBB
              XX XXXXXXXXXX XXXXXX
                 XXXXXXXXXXXXBBBBB BBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBXX pgettext(u'button', u'Running jobs') XXXX
            BBBBB
            BB BBBBBBBBBB
              XXXXXXX XXXXXXXXXX XXXXXBB BBBBBBBBB BB BBBBBBBBB XXXXXXXBBBBBX
                      XXXXXXXXXXXXX
                      XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                BB BBBBBBBBB BB BBBBBBBBB
                   pgettext(u'button', u'Raise budget') 
                BBBB
                   pgettext(u'button', u'Edit') 
                BBBBB
              XXXXXXXXX
              XXXXX XXXXXXXXXXXXXX
                BBBBBBBBBB
                XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXFFFFFFFFFFFFFFFFFFXX
                XXXXXXX XXXXXXXXXX XXXXX XXXXXXX pgettext(u'button', u'Remove') XXXXXXXXX
              XXXXXXX
            BBBBB
          XXXXXX
        BBBBBB
      XXXXXXXXXX
    BBBBB
    BB BBBB
      BB BBBBBBBBBBBBBBBBBBB BBB BBBBBBBBBBBBBBBBBB B B
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Cost by day') XX
          XXXXXXX XXXXXXXXXXXXXXX
            XXXXXXX XXXXXXXXXX XXXXX XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
          XXXXXXXXX
           pgettext(u'name of a value', u'Cost by day') 
          XXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXX XX
          BB BBBBBBBB
            XX XXXXXXXXXXXX XXXXXXX
               ngettext(u'The pale bars are a forecast: %(so_far)s until now, and %(daily)s for each day that is left, which is the cost of the last whole day.', u'The pale bars are a forecast: %(so_far)s until now, and %(daily)s for each day that is left, which is the mean of the last %(n)s whole days.', count) 
                SSS SSSS SSSS SSS S SSSSSSSSS SSSSSSSSSS SSSSS SSSS SSS SSSSSSSSS SSS SSSS SSS SSSS SS SSSSS SSSSS
                SS SSS SSSS SS SSS SSSS SSSSS SSSS
              
                PPP PPPP PPPP PPP P PPPPPPPPP PPPPPPPPPP PPPPP PPPP PPP PPPPPPPPP PPP PPPP PPP PPPP PP PPPPP PPPPP
                PP PPP PPPP PP PPP PPPP PPPPP PPPPP PPPPP
              
            XXXX
          BBBBB
        XXXXXXXXXX
      BBBBB
      XXXX XXXXXXXXXXXX XXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Teams') X XXXXXXXXXX
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXXXX
              XXXXXXX
                XXXX
                  XXXX pgettext(u'column', u'Team') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'GPU-hours') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Cost') XXXXX
                XXXXX
              XXXXXXXX
              XXXXXXX
                BBB BBB BB BBBBBBBBBBB
                  XXXX
                    XXX XXXXXXXXXXXXX
                      XX XXXXXXBBBBB BBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBXXXXXX
                    XXXXX
                    XXX XXXXXXXXXXXXFFFFFFFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXX XXXXXXXXXXXXX
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Resources') X XXXXXXXXXX
          XXXX XXXXXXXXXXXXXXXXXXX
            XXXXXX XXXXXXXXXXX XXXXXXX
              XXXXXXX
                XXXX
                  XXXX pgettext(u'column', u'Team') XXXXX
                  XXXX pgettext(u'column, what a charge is for', u'For') XXXXX
                  XXXX pgettext(u'column', u'Resource') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Hours') XXXXX
                  XXX XXXXXXXXXXXX pgettext(u'column', u'Cost') XXXXX
                XXXXX
              XXXXXXXX
              XXXXXXX
                BBB BBB BB BBBB
                  XXXX
                    XXX XXXXXXXXXXX XXXXXXXXXXX
                    XXX XXXXXXXXXXXX pgettext(u'column, what a charge is for', u'For') XXFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXXXX pgettext(u'column', u'Resource') XXFFFFFFFFFFXXXXX
                    XXX XXXXXXXXXX XXXXXXX
                        XXXXXXXXXXXX pgettext(u'column', u'Hours') XXFFFFFFFFFFFFFFFF XXXXX
                    XXX XXXXXXXXXX XXXXXXX
                        XXXXXXXXXXXX pgettext(u'column', u'Cost') XXXXXXX
                  XXXXX
                BBBBBB
              XXXXXXXX
            XXXXXXXX
          XXXXXX
          BB BBBBB
            XX XXXXXXXXXXX XXXXX XXXXXXX
               ngettext(u'%(n)s more cost less than 0.01. `muster cost show` has all of them.', u'%(n)s more cost less than 0.01 each. `muster cost show` has all of them.', count) 
                SSSSS SSSS SSSS SSSS SSSS SSSSS SSSSSSS SSSS SSSSS SSS SSS SS SSSSS
              
                PPPPP PPPP PPPP PPPP PPPP PPPP PPPPP PPPPPPP PPPP PPPPP PPP PPP PP PPPPP
              
            XXXX
          BBBBB
        XXXXXXXXXX
      XXXXXX
    BBBB
       gettext(u'Nothing was used in this time') 
      XXXXXXXX XXXXXXXX XXXXXXXXXXXXXXX XXXX XXXXXX
         gettext(u'Hours appear here as jobs run.') 
      XXXXXXXXXX
    BBBBB
  XXXXXX
  BB BBBBBBBBBB
    BBB BBB BB BBBBBBB
       pgettext(u'title of a dialog', u'Budget of %(name)s') 
        SSSSSS SS SSSSSSSS
      
      XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXX
                     XXXXXXXXXXXXXX
                     XXXXXXXX pgettext(u'button', u'Save') XX
        XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXFFFFFFFFFFFFFFFFFFXX
         gettext(u'Amount a month (%(currency)s)') 
          SSSSSS S SSSSS SSSSSSSSSSSSSS
        
         gettext(u'%(spent)s spent this month') 
          SSSSSSSSS SSSSS SSSS SSSSS
        
        XXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXFFFFFFFFFFFFFFFFFXX
        XXXXXXXXXX
        XXXXXX XXXXXXXXXX XXXXXXX
          XXXXXX XXXXXXXXXXXXXXX
                 XXXXXXXXXXXX
                 XXXXXXXXX
                 BB BBBBBBBBBXXXXXXXBBBBBX
          XXXXXX gettext(u'Refuse new jobs once it is spent') XXXXXXX
        XXXXXXXX
      XXXXXXXXXXXXXXXX
    BBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Set budget') X
                   XXXXXXXX pgettext(u'button', u'Save') XX
      XXXX XXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'column, what a charge is for', u'For') XX
          XXXXXXX XXXXXXXXXXXX
            XXXXXXX XXXXXXXXX gettext(u'The whole organization') XXXXXXXXX
            BBB BBB BB BBBBBXXXXXXX XXXXXXXXXXXXXXXXXXBBBBBB
          XXXXXXXXX
        XXXXXXXXXX
         gettext(u'Amount a month (%(currency)s)') 
          SSSSSS S SSSSS SSSSSSSSSSSSSS
        
        XXXXXXXX XXXXXXXXXXXXXXX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
        XXXXXXXXXX
      XXXXXX
      XXXXXX XXXXXXXXXX XXXXXXX
        XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXX
        XXXXXX gettext(u'Refuse new jobs once it is spent') XXXXXXX
      XXXXXXXX
      XX XXXXXXXXXXXX XXXXXXX gettext(u"You're told at 50, 80 and 100%%. Running jobs continue.") XXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
